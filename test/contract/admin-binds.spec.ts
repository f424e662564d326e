import { readFileSync } from 'node:fs';
import { bindPassword } from '@countersign/carriers/config';
import { BINDS } from '@countersign/carriers/records';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { addSenderEvidence } from '../support/sender-evidence.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let certificate: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  certificate = readFileSync(harness.environment['TLS_CERT_FILE'] ?? '', 'utf8');
});
afterAll(() => harness.close());

const HOSTS = [{ host: 'smsc.north.example', port: 2775 }];
const NEEDED = { hosts: HOSTS, systemId: 'acme', password: 's3cret' };

let made = 0;
/** A unique name for each test. */
const newName = (): string => `carrier ${(made += 1)}`;
const create = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  admin.post('binds', { ...NEEDED, name: newName(), ...changes });

/** A bind's row, with its encrypted password. */
async function storedOf(id: string): Promise<{ readonly password: string; readonly generation: number }> {
  const row = await BINDS.find(harness.database, parseId('bind', id) ?? '');
  if (row === null) throw new Error(`there is no ${id}`);
  return { password: bindPassword(harness.keys, row), generation: row.generation };
}

const NEVER_BOUND = {
  host: null,
  owner: null,
  state: 'unbound',
  since: null,
  windowUsed: 0,
  submitPerSecond: 0,
  deliverPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  reconnects: 0,
  lastError: null,
  lastErrorAt: null,
  previousError: null,
  measuredSubmitPerSecond: 0,
  measuredDeliverPerSecond: 0,
  unanswered: 0,
};

describe('a bind', () => {
  it('needs hosts, a system_id and a password; the rest has the defaults of the contract', async () => {
    const answer = await admin.post('binds', NEEDED);
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^bind_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      name: 'acme@smsc.north.example',
      carrier: 'acme@smsc.north.example',
      hosts: HOSTS,
      tls: { enabled: false },
      outbind: null,
      systemId: 'acme',
      systemType: '',
      bindType: 'transceiver',
      interfaceVersion: '3.4',
      addressRange: '',
      connections: 1,
      window: 10,
      submitPerSecond: 50,
      enquireLinkSeconds: 30,
      responseTimeoutSeconds: 10,
      defaultAlphabet: 'gsm',
      messageIdBase: 'as-is',
      temporaryStatuses: [8, 20, 88],
      retryableMoStatus: 20,
      submitOptions: {},
      trustedForMo: false,
      senderFormat: 'auto',
      enabled: true,
      status: { state: 'unbound', learnedSenderFormat: null, connections: [NEVER_BOUND] },
    });
    expect((await admin.get(`binds/${String(id)}`)).json).toEqual(answer.json);
  });

  it('of SMPP 3.3 has no options that need TLVs', async () => {
    for (const submitOptions of [{ concatenation: 'sar' }, { tlvs: [{ tag: 0x1400, type: 'hex', value: '00' }] }]) {
      const refused = await create({ interfaceVersion: '3.3', submitOptions });
      expect([refused.status, refused.field]).toEqual([422, 'submitOptions']);
      const id = idOf(await create({ submitOptions }));
      const changed = await admin.patch(`binds/${id}`, { interfaceVersion: '3.3' });
      expect([changed.status, changed.field]).toEqual([422, 'submitOptions']);
      expect((await admin.patch(`binds/${id}`, { interfaceVersion: '3.3', submitOptions: {} })).status).toBe(200);
    }
  });

  it('that is not named gets a name that no other has', async () => {
    const unnamed = { ...NEEDED, systemId: 'twin' };
    const names = [await admin.post('binds', unnamed), await admin.post('binds', unnamed)].map(
      ({ json }) => json['name'],
    );
    expect(names).toEqual(['twin@smsc.north.example', 'twin@smsc.north.example 2']);
  });

  it('takes all of its fields, at its creation and later', async () => {
    const body = {
      name: newName(),
      carrier: 'north',
      hosts: [
        { host: '192.0.2.1', port: 1 },
        { host: '2001:db8::1', port: 65_535 },
      ],
      tls: { enabled: true, caCertificate: certificate, serverName: 'smpp.north.example' },
      systemId: 'fifteen octets!',
      systemType: 'VMS',
      bindType: 'receiver',
      interfaceVersion: '5.0',
      addressRange: '^1415',
      connections: 2,
      window: 1000,
      submitPerSecond: 10_000,
      enquireLinkSeconds: 15,
      responseTimeoutSeconds: 5,
      defaultAlphabet: 'gsm-packed',
      messageIdBase: 'hex-to-dec',
      temporaryStatuses: [],
      retryableMoStatus: 100,
      submitOptions: { validityPeriod: 'absolute', tlvs: [{ tag: '0x1400', type: 'string', value: '17' }] },
      trustedForMo: true,
      senderFormat: 'international',
      enabled: false,
    };
    const answer = await admin.post('binds', { ...body, password: '12345678' });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject(body);
    const changes = {
      name: newName(),
      carrier: 'south',
      hosts: HOSTS,
      tls: { enabled: false },
      outbind: null,
      systemId: 'us',
      systemType: '',
      bindType: 'transmitter',
      interfaceVersion: '3.3',
      addressRange: '',
      connections: 1,
      window: 1,
      submitPerSecond: 1,
      enquireLinkSeconds: 60,
      responseTimeoutSeconds: 20,
      defaultAlphabet: 'latin1',
      messageIdBase: 'dec-to-hex',
      temporaryStatuses: [88, 1025],
      retryableMoStatus: 88,
      submitOptions: { priorityFlag: 1 },
      trustedForMo: false,
      senderFormat: 'national',
      enabled: true,
    };
    const changed = await admin.patch(`binds/${idOf(answer)}`, changes);
    expect(changed.status).toBe(200);
    const { status: _status, ...settings } = changed.json;
    expect(settings).toEqual({ id: answer.json['id'], ...changes });
    expect((await storedOf(idOf(answer))).password).toBe('12345678');
  });

  it('that is changed keeps the fields that were not named', async () => {
    const answer = await create({ window: 7 });
    const changed = await admin.patch(`binds/${idOf(answer)}`, { submitPerSecond: 5 });
    expect(changed.json).toEqual({ ...answer.json, submitPerSecond: 5 });
    expect((await admin.patch(`binds/${idOf(answer)}`, {})).json).toEqual(changed.json);
  });

  it('takes host and port for a list of one', async () => {
    const { hosts: _hosts, ...rest } = NEEDED;
    const answer = await admin.post('binds', { ...rest, name: newName(), host: 'localhost', port: 2776 });
    expect(answer.json['hosts']).toEqual([{ host: 'localhost', port: 2776 }]);
    const moved = await admin.patch(`binds/${idOf(answer)}`, { host: '::1', port: 2777 });
    expect(moved.json['hosts']).toEqual([{ host: '::1', port: 2777 }]);
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{ hosts: undefined }, 'hosts'],
    [{ hosts: undefined, host: 'a.example' }, 'port'],
    [{ hosts: undefined, port: 2775 }, 'host'],
    [{ host: 'a.example' }, 'host'],
    [{ port: 2775 }, 'port'],
    [{ host: 'a.example', port: 2775 }, 'host'],
  ])('whose hosts are %j is refused', async (changes, field) => {
    const answer = await create(changes);
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('is not moved by half a host', async () => {
    const id = idOf(await create());
    expect((await admin.patch(`binds/${id}`, { port: 1 })).field).toBe('host');
    expect((await admin.patch(`binds/${id}`, { host: 'a.example' })).field).toBe('port');
    expect((await admin.get(`binds/${id}`)).json['hosts']).toEqual(HOSTS);
  });

  it.each<[string, unknown, string?]>([
    ['name', ''],
    ['name', 'two\nlines'],
    ['name', 'x'.repeat(101)],
    ['name', null],
    ['carrier', ''],
    ['carrier', null],
    ['hosts', []],
    ['hosts', 'smsc.example:2775'],
    ['hosts', null],
    ['hosts', Array.from({ length: 17 }, () => HOSTS[0])],
    ['hosts', ['smsc.example'], 'hosts.0'],
    ['hosts', [{ host: 'a.example', port: 2775 }, { host: 'b.example' }], 'hosts.1.port'],
    ['hosts', [{ host: 'a.example', port: 0 }], 'hosts.0.port'],
    ['hosts', [{ host: 'a.example', port: 65_536 }], 'hosts.0.port'],
    ['hosts', [{ host: 'a.example', port: '2775' }], 'hosts.0.port'],
    ['hosts', [{ host: '', port: 2775 }], 'hosts.0.host'],
    ['hosts', [{ host: 'a b', port: 2775 }], 'hosts.0.host'],
    ['hosts', [{ host: '300.0.0.1', port: 2775 }], 'hosts.0.host'],
    ['hosts', [{ host: 'smpp://a.example', port: 2775 }], 'hosts.0.host'],
    ['hosts', [{ host: 'a.example', port: 2775, weight: 1 }], 'hosts.0.weight'],
    ['tls', true],
    ['tls', null],
    ['tls', {}, 'tls.enabled'],
    ['tls', { enabled: 'true' }, 'tls.enabled'],
    ['tls', { enabled: true, caCertificate: 'PEM' }, 'tls.caCertificate'],
    ['tls', { enabled: true, caCertificate: null }, 'tls.caCertificate'],
    ['tls', { enabled: true, serverName: '' }, 'tls.serverName'],
    ['tls', { enabled: true, rejectUnauthorized: false }, 'tls.rejectUnauthorized'],
    ['systemId', undefined],
    ['systemId', ''],
    ['systemId', 'x'.repeat(16)],
    ['systemId', 'ümlaut'],
    ['systemId', 'a\u0000b'],
    ['systemId', null],
    ['password', undefined],
    ['password', ''],
    ['password', '123456789'],
    ['password', 'pässwort'],
    ['password', 12345678],
    ['password', null],
    ['systemType', 'x'.repeat(13)],
    ['systemType', null],
    ['bindType', 'both'],
    ['bindType', null],
    ['interfaceVersion', '4.0'],
    ['interfaceVersion', 3.4],
    ['addressRange', 'x'.repeat(41)],
    ['connections', 0],
    ['connections', 33],
    ['window', 0],
    ['window', 1001],
    ['window', 1.5],
    ['window', '10'],
    ['window', null],
    ['submitPerSecond', 0],
    ['submitPerSecond', 10_001],
    ['enquireLinkSeconds', 0],
    ['enquireLinkSeconds', 3_601],
    ['responseTimeoutSeconds', 0],
    ['responseTimeoutSeconds', 301],
    ['defaultAlphabet', 'utf-8'],
    ['messageIdBase', 'hex'],
    ['temporaryStatuses', 88],
    ['temporaryStatuses', [0]],
    ['temporaryStatuses', [88, 88]],
    ['temporaryStatuses', ['88']],
    ['temporaryStatuses', Array.from({ length: 65 }, (_, at) => at + 1)],
    ['retryableMoStatus', 0],
    ['retryableMoStatus', 2 ** 31],
    ['trustedForMo', 'yes'],
    ['senderFormat', 'e164'],
    ['senderFormat', null],
    ['learnedSenderFormat', 'national'],
    ['enabled', 1],
    ['enabled', null],
    ['id', 'x'],
    ['status', { state: 'bound' }],
    ['generation', 5],
    ['sendWindow', 5],
  ])('with %s %j is refused, and nothing is made', async (field, value, where = field) => {
    const before = await harness.database.query('SELECT count(*) FROM binds');
    const answer = await create({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', where]);
    expect(await harness.database.query('SELECT count(*) FROM binds')).toEqual(before);
  });

  it('shows the learned sender format until senderFormat, hosts or systemId changes', async () => {
    const id = idOf(await create({ trustedForMo: true }));
    const learnedOf = async (): Promise<unknown> => {
      const { status } = (await admin.get(`binds/${id}`)).json;
      return (status as Readonly<Record<string, unknown>>)['learnedSenderFormat'];
    };
    for (const change of [
      { senderFormat: 'national' },
      { hosts: [{ host: 'b.example', port: 1 }] },
      { systemId: 'b' },
    ]) {
      await admin.patch(`binds/${id}`, { senderFormat: 'auto' });
      await addSenderEvidence(harness, parseId('bind', id) ?? '', 20);
      expect(await learnedOf()).toBe('national');
      await admin.patch(`binds/${id}`, { submitPerSecond: 7, senderFormat: 'auto' });
      expect(await learnedOf()).toBe('national');
      await admin.patch(`binds/${id}`, change);
      expect(await learnedOf()).toBeNull();
    }
  });

  it('whose senders contradict each other learns anew when auto is set once more, and the audit log says so', async () => {
    const id = idOf(await create({ trustedForMo: true }));
    await addSenderEvidence(harness, parseId('bind', id) ?? '', 20);
    await addSenderEvidence(harness, parseId('bind', id) ?? '', 1, 'international');
    expect((await admin.get(`binds/${id}`)).json['status']).toMatchObject({ learnedSenderFormat: 'mixed' });
    const changed = await admin.patch(`binds/${id}`, { senderFormat: 'auto' });
    expect(changed.json['status']).toMatchObject({ learnedSenderFormat: null });
    const noted = (await admin.notes(id)).at(-1);
    expect([noted?.before?.['learnedSenderFormat'], noted?.after?.['learnedSenderFormat']]).toEqual(['mixed', null]);
    await admin.delete(`binds/${id}`);
    expect(await addSenderEvidence(harness, parseId('bind', id) ?? '', 1)).toBeNull();
  });

  it('has a name of its own', async () => {
    const name = newName();
    await create({ name });
    const other = idOf(await create());
    for (const refused of [await create({ name }), await admin.patch(`binds/${other}`, { name })]) {
      expect([refused.status, refused.code, refused.field]).toEqual([409, 'CONFLICT', 'name']);
    }
  });

  it('never shows its password, in an answer or the audit log, which says that it was set', async () => {
    const secrets = ['Xq7w-one', 'Xq7w-two'];
    const answer = await create({ password: secrets[0] });
    const changed = await admin.patch(`binds/${idOf(answer)}`, { password: secrets[1] });
    expect(changed.json).toEqual(answer.json);
    expect((await storedOf(idOf(answer))).password).toBe(secrets[1]);
    const listed = await admin.get('binds?limit=100');
    for (const shown of [answer.text, changed.text, listed.text, await admin.log(), JSON.stringify(harness.log)]) {
      for (const secret of secrets) expect(shown).not.toContain(secret);
    }
    const notes = await admin.notes(idOf(answer));
    expect(notes.map(({ action, after }) => [action, after?.['password']])).toEqual([
      ['create', '[set]'],
      ['update', '[set]'],
    ]);
  });

  it('is deleted, but not while a route uses it', async () => {
    const id = idOf(await create());
    const route = idOf(await admin.post('routes', { prefix: '+1', bindId: id }));
    const refused = await admin.delete(`binds/${id}`);
    expect([refused.status, refused.code]).toEqual([409, 'CONFLICT']);
    await admin.delete(`routes/${route}`);
    expect((await admin.delete(`binds/${id}`)).status).toBe(204);
    expect((await admin.get(`binds/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.notes(id)).map(({ action }) => action)).toEqual(['create', 'delete']);
  });
});

describe('the actions of an engineer on a bind', () => {
  it.each([
    ['disable', true, false],
    ['drain', true, false],
    ['enable', false, true],
  ])('to %s it is answered 202 and written down, and again does nothing more', async (action, before, after) => {
    const id = idOf(await create({ enabled: before }));
    for (const answer of [await admin.post(`binds/${id}/${action}`), await admin.post(`binds/${id}/${action}`, {})]) {
      expect([answer.status, answer.json['id'], answer.json['enabled']]).toEqual([202, id, after]);
      expect(answer.json['status']).toMatchObject({ state: after ? 'unbound' : 'disabled' });
    }
    const [, note, ...more] = await admin.notes(id);
    expect(note).toMatchObject({ action, before: { enabled: before }, after: { enabled: after }, actor: 'root' });
    expect(more).toEqual([]);
  });

  it('to reconnect it is wished as often as it is asked for', async () => {
    const answer = await create();
    for (const wished of [1, 2]) {
      const asked = await admin.post(`binds/${idOf(answer)}/reconnect`);
      expect([asked.status, asked.json]).toEqual([202, answer.json]);
      expect((await storedOf(idOf(answer))).generation).toBe(wished);
    }
    expect((await admin.notes(idOf(answer))).map(({ action }) => action)).toEqual(['create', 'reconnect', 'reconnect']);
  });

  it.each(['enable', 'disable', 'reconnect', 'drain'])('to %s one that is not there is 404', async (action) => {
    for (const id of ['bind_00000000000000000000000000', 'nonsense']) {
      expect((await admin.post(`binds/${id}/${action}`)).code).toBe('NOT_FOUND');
    }
    const id = idOf(await create());
    expect((await admin.post(`binds/${id}/${action}`, { force: true })).field).toBe('force');
    expect((await admin.get(`binds/${id}/${action}`)).status).toBe(405);
    expect((await harness.call(`/v1/admin/binds/${id}/${action}`, { method: 'POST' })).code).toBe('FORBIDDEN');
  });
});
