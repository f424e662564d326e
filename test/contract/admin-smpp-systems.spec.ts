import { SMPP_SYSTEMS, systemPasswordMatches, type SmppSystem } from '@countersign/carriers';
import { parseId } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-desk.js';
import { ControlPlaneRoom, type Answer } from '../support/control-plane-room.js';
import { teach } from '../support/sender-evidence.js';

let room: ControlPlaneRoom;
let admin: AdminCalls;

beforeAll(async () => {
  room = await ControlPlaneRoom.open();
  admin = new AdminCalls(room);
});
afterAll(() => room.close());

let made = 0;
/** A system_id that no other test has. */
const newSystemId = (): string => `system ${(made += 1)}`;
const create = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  admin.post('smpp-systems', { systemId: newSystemId(), password: 's3cret', ...changes });

async function storedOf(id: string): Promise<SmppSystem> {
  const row = await SMPP_SYSTEMS.find(room.database, parseId('sys', id) ?? '');
  if (row === null) throw new Error(`there is no ${id}`);
  return row;
}

describe('a system that connects in', () => {
  it('needs a system_id and a password; the rest has defaults', async () => {
    const answer = await admin.post('smpp-systems', { systemId: 'aggregator one', password: 's3cret' });
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^sys_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      systemId: 'aggregator one',
      carrier: 'aggregator one',
      allowedCidrs: [],
      bindTypes: ['transmitter', 'receiver', 'transceiver'],
      maxConnections: 4,
      submitPerSecond: null,
      tlsRequired: false,
      trustedForMo: false,
      senderFormat: 'auto',
      learnedSenderFormat: null,
      enabled: true,
      connections: [],
    });
    expect((await admin.get(`smpp-systems/${String(id)}`)).json).toEqual(answer.json);
    expect(systemPasswordMatches(room.keys, await storedOf(String(id)), 's3cret')).toBe(true);
  });

  it('takes all that can be told of it, at its making and later', async () => {
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
    const answer = await admin.post('smpp-systems', { ...body, password: '12345678' });
    expect(answer.json).toMatchObject(body);
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
    expect(systemPasswordMatches(room.keys, await storedOf(idOf(answer)), '12345678')).toBe(true);
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
    ['password', undefined],
    ['password', ''],
    ['password', '123456789'],
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
    ['window', 10],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('smpp-systems?limit=100')).text;
    const answer = await create({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('smpp-systems?limit=100')).text).toBe(before);
  });

  it('shows the learned sender format until senderFormat, trustedForMo or systemId changes', async () => {
    const id = idOf(await create({ trustedForMo: true }));
    for (const change of [{ senderFormat: 'international' }, { trustedForMo: false }, { systemId: newSystemId() }]) {
      await admin.patch(`smpp-systems/${id}`, { senderFormat: 'auto', trustedForMo: true });
      await teach(room, parseId('sys', id) ?? '', 20);
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
    expect(await teach(room, parseId('sys', id) ?? '', 1)).toBeNull();
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
    expect(secrets.map((secret) => systemPasswordMatches(room.keys, stored, secret))).toEqual([false, true]);
    const listed = await admin.get('smpp-systems?limit=100');
    for (const shown of [answer.text, changed.text, listed.text, await admin.log(), JSON.stringify(room.log)]) {
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
