import { outbindPassword } from '@countersign/carriers/credentials';
import { BINDS, SMPP_SYSTEMS } from '@countersign/carriers/records';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

let made = 0;
const create = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
  made += 1;
  const needed = { host: 'smsc.north.example', port: 2775, systemId: 'acme', password: 's3cret' };
  return admin.post('binds', { ...needed, name: `carrier ${made}`, ...changes });
};
const UNBOUND = { owner: null, state: 'unbound', lastError: null };

describe('a bind', () => {
  it('waits for an outbind, whose password is sealed and never shown', async () => {
    const outbind = { systemId: 'smsc', allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'] };
    const answer = await create({ outbind: { ...outbind, password: 'come' }, connections: 2 });
    expect([answer.status, answer.json['outbind']]).toEqual([201, outbind]);
    const waiting = { ...UNBOUND, lastError: 'waiting for an outbind of the carrier' };
    expect(answer.json['status']).toMatchObject({ state: 'unbound', connections: [waiting, waiting] });
    const id = idOf(answer);
    const passwordOf = async (): Promise<string | null> => {
      const row = await BINDS.find(harness.database, parseId('bind', id) ?? '');
      return row === null ? null : outbindPassword(harness.keys, row);
    };
    expect(await passwordOf()).toBe('come');
    const moved = await admin.patch(`binds/${id}`, { outbind: { systemId: 'other', allowedCidrs: ['192.0.2.7'] } });
    expect(moved.json['outbind']).toEqual({ systemId: 'other', allowedCidrs: ['192.0.2.7/32'] });
    expect(await passwordOf()).toBe('come');
    await admin.patch(`binds/${id}`, { outbind: { ...outbind, password: 'go' } });
    expect(await passwordOf()).toBe('go');
    expect((await admin.patch(`binds/${id}`, { window: 3 })).json['outbind']).toEqual(outbind);
    const notes = JSON.stringify(await admin.notes(id));
    expect(notes).toContain('"outbindPassword":"[set]"');
    for (const secret of ['"come"', '"go"']) expect(notes).not.toContain(secret);
    const none = await admin.patch(`binds/${id}`, { outbind: null });
    expect([none.json['outbind'], await passwordOf()]).toEqual([null, null]);
    expect(none.json['status']).toMatchObject({ connections: [UNBOUND, UNBOUND] });
    const again = await admin.patch(`binds/${id}`, { outbind });
    expect([again.status, again.field]).toEqual([422, 'outbind.password']);
  });

  it.each([
    [{ systemId: 'smsc', allowedCidrs: ['192.0.2.0/24'] }, 'outbind.password'],
    [{ systemId: 'smsc', password: 'too long!', allowedCidrs: ['192.0.2.0/24'] }, 'outbind.password'],
    [{ systemId: '', password: 'come', allowedCidrs: ['192.0.2.0/24'] }, 'outbind.systemId'],
    [{ systemId: 'sixteen octets!!', password: 'come', allowedCidrs: ['192.0.2.0/24'] }, 'outbind.systemId'],
    [{ systemId: 'smsc', password: 'come' }, 'outbind.allowedCidrs'],
    [{ systemId: 'smsc', password: 'come', allowedCidrs: [] }, 'outbind.allowedCidrs'],
    [{ systemId: 'smsc', password: 'come', allowedCidrs: ['10.0.0.0/15'] }, 'outbind.allowedCidrs'],
    [{ systemId: 'smsc', password: 'come', allowedCidrs: ['192.0.2.1', '2001::/31'] }, 'outbind.allowedCidrs'],
    [{ systemId: 'smsc', password: 'come', allowedCidrs: ['smsc.example'] }, 'outbind.allowedCidrs'],
    [{ systemId: 'smsc', password: 'come', allowedCidrs: ['192.0.2.1'], host: 'a' }, 'outbind.host'],
    [[], 'outbind'],
    ['smsc', 'outbind'],
  ])('whose outbind is %j is refused', async (outbind, field) => {
    const answer = await create({ outbind });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  describe('that is trusted for MO', () => {
    const outbind = { systemId: 'smsc-7q', allowedCidrs: ['192.0.2.0/24'] };
    const WEAK = ['c', 'Zq7w1', '12345678', 'SeCrEt08', 'aaabbb', 'SMSC-7Q'];
    const isRefused = ({ status, code, field, text }: Answer): void => {
      expect([status, code, field]).toEqual([422, 'VALIDATION_ERROR', 'outbind.password']);
      expect(text).toContain('6 to 8 characters of ASCII');
    };

    it.each(WEAK)('takes no password of an outbind as weak as %s, as no system does', async (password) => {
      const sent = { outbind: { ...outbind, password } };
      isRefused(await create({ ...sent, trustedForMo: true }));
      const trusted = idOf(await create({ outbind: { ...outbind, password: 'k3Vd9qLz' }, trustedForMo: true }));
      isRefused(await admin.patch(`binds/${trusted}`, sent));
      const answer = await create(sent);
      expect(answer.status).toBe(201);
      isRefused(await admin.patch(`binds/${idOf(answer)}`, { ...sent, trustedForMo: true }));
    });

    it('keeps a password that was stored before, and takes another that is not weak', async () => {
      const id = idOf(await create({ outbind: { ...outbind, password: 'come' } }));
      expect((await admin.patch(`binds/${id}`, { trustedForMo: true })).status).toBe(200);
      const networks = ['198.51.100.0/24'];
      expect((await admin.patch(`binds/${id}`, { outbind: { ...outbind, allowedCidrs: networks } })).status).toBe(200);
      expect((await admin.patch(`binds/${id}`, { outbind: { ...outbind, password: 'k3Vd9q' } })).status).toBe(200);
      const untrusted = { outbind: { ...outbind, password: 'c' }, trustedForMo: false };
      expect((await admin.patch(`binds/${id}`, untrusted)).status).toBe(200);
    });
  });
});

describe('an SMPP system', () => {
  const OUTBIND = { host: 'esme.example', port: 2775, tls: { enabled: false }, systemId: 'us' };
  const add = (outbind: unknown): Promise<Answer> => {
    made += 1;
    return admin.post('smpp-systems', { systemId: `called ${made}`, outbind });
  };
  const passwordOf = async (id: string): Promise<string | null> => {
    const row = await SMPP_SYSTEMS.find(harness.database, parseId('sys', id) ?? '');
    return row === null ? null : outbindPassword(harness.keys, row);
  };

  it('is not called by default', async () => {
    const answer = await admin.post('smpp-systems', { systemId: 'plain' });
    expect([answer.status, answer.json['outbind']]).toEqual([201, null]);
  });

  it('has an outbind, whose password is sealed, never shown, and sent to no other host', async () => {
    const { tls: _tls, ...withoutTls } = OUTBIND;
    const answer = await add({ ...withoutTls, password: 'come' });
    expect([answer.status, answer.json['outbind']]).toEqual([201, OUTBIND]);
    const id = idOf(answer);
    expect(await passwordOf(id)).toBe('come');
    const renamed = await admin.patch(`smpp-systems/${id}`, { outbind: { ...OUTBIND, systemId: 'them' } });
    expect([renamed.status, await passwordOf(id)]).toEqual([200, 'come']);
    for (const change of [{ host: 'other.example' }, { port: 1 }, { tls: { enabled: true } }]) {
      const moved = await admin.patch(`smpp-systems/${id}`, { outbind: { ...OUTBIND, ...change } });
      expect([moved.status, moved.field]).toEqual([422, 'outbind.password']);
      const sent = { ...OUTBIND, ...change, password: 'go' };
      expect((await admin.patch(`smpp-systems/${id}`, { outbind: sent })).status).toBe(200);
    }
    expect(await passwordOf(id)).toBe('go');
    const notes = JSON.stringify(await admin.notes(id));
    expect(notes).toContain('"outbindPassword":"[set]"');
    for (const secret of ['"come"', '"go"']) expect(notes).not.toContain(secret);
    const none = await admin.patch(`smpp-systems/${id}`, { outbind: null });
    expect([none.json['outbind'], await passwordOf(id)]).toEqual([null, null]);
  });

  it.each([
    [OUTBIND, 'outbind.password'],
    [{ ...OUTBIND, password: '' }, 'outbind.password'],
    [{ ...OUTBIND, password: 'come', host: 'a b' }, 'outbind.host'],
    [{ ...OUTBIND, password: 'come', port: 0 }, 'outbind.port'],
    [{ ...OUTBIND, password: 'come', systemId: '' }, 'outbind.systemId'],
    [{ ...OUTBIND, password: 'come', tls: { enabled: 1 } }, 'outbind.tls'],
    [{ ...OUTBIND, password: 'come', allowedCidrs: [] }, 'outbind.allowedCidrs'],
    [{ ...OUTBIND, password: 'come', tls: { enabled: true, clientKey: 'x' } }, 'outbind.tls'],
    ['esme.example', 'outbind'],
  ])('whose outbind is %j is refused', async (outbind, field) => {
    const answer = await add(outbind);
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });
});
