import { systemPasswordMatches, type SmppSystem } from '@countersign/carriers/config';
import { SMPP_SYSTEMS } from '@countersign/carriers/records';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { addSenderEvidence } from '../support/sender-evidence.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

let made = 0;
/** A unique system_id for each test. */
const newSystemId = (): string => `system ${(made += 1)}`;
const create = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  admin.post('smpp-systems', { systemId: newSystemId(), password: 's3cret', ...changes });

async function storedOf(id: string): Promise<SmppSystem> {
  const row = await SMPP_SYSTEMS.find(harness.database, parseId('sys', id) ?? '');
  if (row === null) throw new Error(`there is no ${id}`);
  return row;
}

describe('a system that connects in', () => {
  it('needs a system_id; the rest has defaults, and its password is generated and shown once', async () => {
    const answer = await admin.post('smpp-systems', { systemId: 'aggregator one' });
    expect(answer.status).toBe(201);
    const { id, password, ...rest } = answer.json;
    expect(id).toMatch(/^sys_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      systemId: 'aggregator one',
      carrier: 'aggregator one',
      allowedCidrs: [],
      bindTypes: ['transmitter', 'receiver', 'transceiver'],
      maxConnections: 4,
      submitPerSecond: null,
      deliverPerSecond: 50,
      tlsRequired: false,
      outbind: null,
      window: 10,
      enquireLinkSeconds: 30,
      responseTimeoutSeconds: 10,
      defaultAlphabet: 'gsm',
      messageIdBase: 'as-is',
      temporaryStatuses: [8, 20, 88],
      retryableMoStatus: 20,
      submitOptions: {},
      trustedForMo: false,
      trustWarning: null,
      refusedBinds: 0,
      lastRefusal: null,
      senderFormat: 'auto',
      learnedSenderFormat: null,
      enabled: true,
      connections: [],
    });
    expect(password).toMatch(/^[A-Za-z0-9]{8}$/);
    expect(systemPasswordMatches(harness.keys, await storedOf(String(id)), String(password))).toBe(true);
    expect((await admin.get(`smpp-systems/${String(id)}`)).json).toEqual({ id, ...rest });
    const shown = [await admin.get('smpp-systems?limit=100'), await admin.patch(`smpp-systems/${String(id)}`, {})];
    const texts = [...shown.map(({ text }) => text), await admin.log(), JSON.stringify(harness.log)];
    for (const text of texts) expect(text).not.toContain(password);
    expect((await admin.notes(id)).map(({ action, after }) => [action, after?.['password']])).toEqual([
      ['create', '[set]'],
    ]);
  });

  it('has the settings of a link that binds have, each in its range', async () => {
    const settings = {
      window: 25,
      enquireLinkSeconds: 60,
      responseTimeoutSeconds: 5,
      defaultAlphabet: 'gsm-packed',
      messageIdBase: 'hex-to-dec',
      temporaryStatuses: [20, 88],
      retryableMoStatus: 100,
      submitOptions: { serviceType: 'OTP', source: { ton: 0 } },
    };
    expect((await create(settings)).json).toMatchObject(settings);
    const id = idOf(await create());
    expect((await admin.patch(`smpp-systems/${id}`, settings)).json).toMatchObject(settings);
    expect((await admin.get(`smpp-systems/${id}`)).json).toMatchObject(settings);
    const wrong = [{ window: 0 }, { enquireLinkSeconds: 3_601 }, { responseTimeoutSeconds: 0.5 }];
    const words = [{ defaultAlphabet: 'ebcdic' }, { messageIdBase: 'octal' }, { retryableMoStatus: 0 }];
    for (const change of [...wrong, ...words, { temporaryStatuses: [8, 8] }]) {
      const { status, field } = await admin.patch(`smpp-systems/${id}`, change);
      expect([status, field]).toEqual([422, Object.keys(change)[0]]);
    }
  });

  it('has a rate of codes that are sent to it', async () => {
    const id = idOf(await create({ deliverPerSecond: 7 }));
    expect((await admin.get(`smpp-systems/${id}`)).json['deliverPerSecond']).toBe(7);
    for (const deliverPerSecond of [0, 100_001, '7', null])
      expect((await admin.patch(`smpp-systems/${id}`, { deliverPerSecond })).field).toBe('deliverPerSecond');
  });

  it('is deleted, but not while a route uses it', async () => {
    const id = idOf(await create());
    const route = idOf(await admin.post('routes', { prefix: '+1', smppSystemId: id }));
    const refused = await admin.delete(`smpp-systems/${id}`);
    expect([refused.status, refused.code]).toEqual([409, 'CONFLICT']);
    await admin.delete(`routes/${route}`);
    expect((await admin.delete(`smpp-systems/${id}`)).status).toBe(204);
  });

  it('gets another random password when it is rotated, shown in that answer alone', async () => {
    const made = await admin.post('smpp-systems', { systemId: newSystemId() });
    const id = idOf(made);
    const rotated = await admin.post(`smpp-systems/${id}/rotate`);
    const { password, ...rest } = rotated.json;
    expect([rotated.status, { ...rest, password: made.json['password'] }]).toEqual([202, made.json]);
    expect(password).toMatch(/^[A-Za-z0-9]{8}$/);
    const stored = await storedOf(id);
    const matching = [made.json['password'], password].map((text) =>
      systemPasswordMatches(harness.keys, stored, String(text)),
    );
    expect(matching).toEqual([false, true]);
    const audited = (await admin.notes(id)).map(({ action, after }) => [action, after?.['password']]);
    expect(audited).toEqual([
      ['create', '[set]'],
      ['rotate', '[set]'],
    ]);
    expect(await admin.log()).not.toContain(password);
    expect((await admin.get(`smpp-systems/${id}`)).json).toEqual(rest);
    expect((await admin.post('smpp-systems/sys_01HF7YAT000000000000000001/rotate')).code).toBe('NOT_FOUND');
  });

  it('takes all of its fields, at its creation and later', async () => {
    const body = {
      systemId: newSystemId(),
      carrier: 'north',
      allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
      bindTypes: ['transceiver'],
      maxConnections: 1,
      submitPerSecond: 100,
      tlsRequired: true,
      trustedForMo: true,
      senderFormat: 'international',
      enabled: false,
    };
    const answer = await admin.post('smpp-systems', { ...body, password: 'a5 =8 "b' });
    expect(answer.json).toMatchObject(body);
    expect(answer.json).not.toHaveProperty('password');
    const changes = {
      systemId: newSystemId(),
      carrier: 'south',
      allowedCidrs: [],
      bindTypes: ['receiver', 'transmitter'],
      maxConnections: 1_000,
      submitPerSecond: null,
      tlsRequired: false,
      trustedForMo: false,
      senderFormat: 'national',
      enabled: true,
    };
    const changed = await admin.patch(`smpp-systems/${idOf(answer)}`, changes);
    expect([changed.status, changed.json]).toEqual([200, { ...answer.json, ...changes }]);
    expect(systemPasswordMatches(harness.keys, await storedOf(idOf(answer)), 'a5 =8 "b')).toBe(true);
    expect((await admin.patch(`smpp-systems/${idOf(answer)}`, {})).json).toEqual(changed.json);
  });

  it('may come from an address alone, which is a network of one', async () => {
    const answer = await create({ allowedCidrs: ['192.0.2.7', '::1'] });
    expect(answer.json['allowedCidrs']).toEqual(['192.0.2.7/32', '::1/128']);
  });

  it.each<[string, unknown]>([
    ['systemId', undefined],
    ['systemId', ''],
    ['systemId', 'x'.repeat(16)],
    ['systemId', 'ümlaut'],
    ['systemId', 'a\u0000b'],
    ['systemId', null],
    ['password', ''],
    ['password', 'z'],
    ['password', 'Zq7w1'],
    ['password', '123456789'],
    ['password', '12345678'],
    ['password', 'aaaaaaaa'],
    ['password', 'secret08'],
    ['password', 'SeCrEt'],
    ['password', 'PassW0rd'],
    ['password', 'pässwort'],
    ['password', 12345678],
    ['password', null],
    ['carrier', ''],
    ['carrier', null],
    ['allowedCidrs', '10.0.0.0/8'],
    ['allowedCidrs', ['10/8']],
    ['allowedCidrs', ['10.0.0.0/33']],
    ['allowedCidrs', ['north.example']],
    ['allowedCidrs', ['10.0.0.0/8', '10.0.0.0/8']],
    ['allowedCidrs', Array.from({ length: 101 }, (_, at) => `10.0.0.${at}`)],
    ['allowedCidrs', null],
    ['bindTypes', []],
    ['bindTypes', ['trx']],
    ['bindTypes', ['receiver', 'receiver']],
    ['bindTypes', null],
    ['maxConnections', 0],
    ['maxConnections', 1_001],
    ['maxConnections', null],
    ['submitPerSecond', 0],
    ['submitPerSecond', 100_001],
    ['submitPerSecond', '100'],
    ['tlsRequired', 'yes'],
    ['trustedForMo', 1],
    ['senderFormat', 'e164'],
    ['senderFormat', null],
    ['learnedSenderFormat', 'national'],
    ['enabled', null],
    ['id', 'x'],
    ['connections', []],
    ['window', 0],
    ['hosts', []],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('smpp-systems?limit=100')).text;
    const answer = await create({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('smpp-systems?limit=100')).text).toBe(before);
  });

  it('shows the learned sender format until senderFormat, trustedForMo or systemId changes', async () => {
    const id = idOf(await create({ trustedForMo: true, allowedCidrs: ['192.0.2.0/24'] }));
    for (const change of [{ senderFormat: 'international' }, { trustedForMo: false }, { systemId: newSystemId() }]) {
      await admin.patch(`smpp-systems/${id}`, { senderFormat: 'auto', trustedForMo: true });
      await addSenderEvidence(harness, parseId('sys', id) ?? '', 20);
      const learned = await admin.patch(`smpp-systems/${id}`, { maxConnections: 7 });
      expect(learned.json['learnedSenderFormat']).toBe('national');
      expect((await admin.patch(`smpp-systems/${id}`, change)).json['learnedSenderFormat']).toBeNull();
      const noted = (await admin.notes(id)).at(-1);
      expect([noted?.before?.['learnedSenderFormat'], noted?.after?.['learnedSenderFormat']]).toEqual([
        'national',
        null,
      ]);
    }
    await admin.delete(`smpp-systems/${id}`);
    expect(await addSenderEvidence(harness, parseId('sys', id) ?? '', 1)).toBeNull();
  });

  it('has a password that is not its system_id, and the refusal says what to do', async () => {
    const made = await create({ systemId: 'Acme-7q' });
    const refusals = [
      await create({ systemId: 'other7q', password: 'Other7Q' }),
      await admin.patch(`smpp-systems/${idOf(made)}`, { password: 'acme-7q' }),
      await admin.patch(`smpp-systems/${idOf(made)}`, { systemId: 'tulip42', password: 'tulip42' }),
    ];
    for (const { status, field, text } of refusals) {
      expect([status, field]).toEqual([422, 'password']);
      expect(text).toContain('a random one is generated');
    }
  });

  it('has a system_id of its own', async () => {
    const systemId = newSystemId();
    await create({ systemId });
    const other = idOf(await create());
    for (const refused of [await create({ systemId }), await admin.patch(`smpp-systems/${other}`, { systemId })]) {
      expect([refused.status, refused.code, refused.field]).toEqual([409, 'CONFLICT', 'systemId']);
    }
  });

  it('never shows its password, in an answer or the audit log, which says that it was set', async () => {
    const secrets = ['Zq7w-one', 'Zq7w-two'];
    const answer = await create({ password: secrets[0] });
    const changed = await admin.patch(`smpp-systems/${idOf(answer)}`, { password: secrets[1] });
    expect(changed.json).toEqual(answer.json);
    const stored = await storedOf(idOf(answer));
    expect(secrets.map((secret) => systemPasswordMatches(harness.keys, stored, secret))).toEqual([false, true]);
    const listed = await admin.get('smpp-systems?limit=100');
    for (const shown of [answer.text, changed.text, listed.text, await admin.log(), JSON.stringify(harness.log)]) {
      for (const secret of secrets) expect(shown).not.toContain(secret);
      expect(shown).not.toContain(stored.passwordDigest.toString('base64'));
    }
    const notes = await admin.notes(idOf(answer));
    expect(notes.map(({ action, after }) => [action, after?.['password']])).toEqual([
      ['create', '[set]'],
      ['update', '[set]'],
    ]);
  });

  it('that is deleted is gone', async () => {
    const id = idOf(await create());
    expect((await admin.delete(`smpp-systems/${id}`)).status).toBe(204);
    expect((await admin.get(`smpp-systems/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.delete(`smpp-systems/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.notes(id)).map(({ action }) => action)).toEqual(['create', 'delete']);
  });
});

describe('a system that is trusted for MO', () => {
  const REMEDY = 'none of them wider than /16 (IPv6: /32), or tlsRequired';
  const refused = ({ status, code, field, text }: Answer, name: string): void => {
    expect([status, code, field]).toEqual([422, 'VALIDATION_ERROR', name]);
    expect(text).toContain(REMEDY);
  };

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['any address', {}],
    ['one wide network', { allowedCidrs: ['10.0.0.0/15'] }],
    ['a wide network beside a narrow one', { allowedCidrs: ['192.0.2.0/24', '0.0.0.0/0'] }],
    ['a wide network of IPv6', { allowedCidrs: ['2001:db8::/31'] }],
    ['all of IPv4 spelt as IPv6', { allowedCidrs: ['::ffff:0:0/96'] }],
    ['a wide network of IPv4 spelt as IPv6', { allowedCidrs: ['::ffff:10.0.0.0/111'] }],
    ['no TLS', { tlsRequired: false }],
  ])('is refused from %s, and nothing is made', async (_from, terms) => {
    const before = (await admin.get('smpp-systems?limit=100')).text;
    refused(await create({ ...terms, trustedForMo: true }), 'trustedForMo');
    expect((await admin.get('smpp-systems?limit=100')).text).toBe(before);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['networks of 16 bits and of 32 of IPv6', { allowedCidrs: ['10.1.0.0/16', '2001:db8::/32'] }],
    ['an address', { allowedCidrs: ['192.0.2.7'] }],
    ['any address over TLS, by its certificate', { tlsRequired: true }],
    ['wide networks over TLS, by its certificate', { tlsRequired: true, allowedCidrs: ['10.0.0.0/8'] }],
  ])('is saved from %s', async (_from, terms) => {
    const answer = await create({ ...terms, trustedForMo: true });
    expect([answer.status, answer.json['trustedForMo'], answer.json['trustWarning']]).toEqual([201, true, null]);
  });

  it('keeps its proof: a change that would take it away is refused and changes nothing', async () => {
    const byAddress = idOf(await create({ trustedForMo: true, allowedCidrs: ['192.0.2.0/24'] }));
    const byCertificate = idOf(await create({ trustedForMo: true, tlsRequired: true }));
    const open = idOf(await create());
    const before = (await admin.get('smpp-systems?limit=100')).text;
    refused(await admin.patch(`smpp-systems/${byAddress}`, { allowedCidrs: [] }), 'allowedCidrs');
    refused(await admin.patch(`smpp-systems/${byAddress}`, { allowedCidrs: ['192.0.0.0/8'] }), 'allowedCidrs');
    refused(await admin.patch(`smpp-systems/${byCertificate}`, { tlsRequired: false }), 'tlsRequired');
    refused(await admin.patch(`smpp-systems/${open}`, { trustedForMo: true }), 'trustedForMo');
    expect((await admin.get('smpp-systems?limit=100')).text).toBe(before);
    const change = { trustedForMo: false, allowedCidrs: [] };
    expect((await admin.patch(`smpp-systems/${byAddress}`, change)).status).toBe(200);
    const both = { trustedForMo: true, allowedCidrs: ['198.51.100.0/24'] };
    expect((await admin.patch(`smpp-systems/${open}`, both)).status).toBe(200);
  });

  it('of an earlier release says that it is not trusted, may be changed in other ways, and is mended by networks', async () => {
    const id = idOf(await create({ trustedForMo: true, allowedCidrs: ['192.0.2.0/24'] }));
    const uuid = parseId('sys', id);
    await harness.database.query(`UPDATE smpp_systems SET allowed_cidrs = '{}' WHERE id = $1`, [uuid]);
    const shown = await admin.get(`smpp-systems/${id}`);
    expect(shown.json).toMatchObject({ trustedForMo: true, trustWarning: expect.stringContaining(REMEDY) as string });
    const disabled = await admin.patch(`smpp-systems/${id}`, { enabled: false });
    expect([disabled.status, disabled.json['enabled']]).toEqual([200, false]);
    refused(await admin.patch(`smpp-systems/${id}`, { trustedForMo: true }), 'trustedForMo');
    const mended = await admin.patch(`smpp-systems/${id}`, { allowedCidrs: ['192.0.2.0/24'] });
    expect([mended.status, mended.json['trustedForMo'], mended.json['trustWarning']]).toEqual([200, true, null]);
  });
});
