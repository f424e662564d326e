import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { stolenConnection } from '../support/stolen-connection.js';

// Rows that were written with the database connection of a gateway are shown by the admin API, and stop no change of others.

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let stolen: Database;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ REDIS_URL: '' });
  admin = new AdminCalls(harness);
  const url = harness.ofGateway['DATABASE_URL'] ?? '';
  stolen = await stolenConnection(url);
});
afterAll(async () => {
  await stolen.close();
  await harness.close();
});

/** A gateway that is seen now. */
async function gateway(): Promise<Uuid> {
  const id = harness.clock.newId();
  await stolen.query(
    `INSERT INTO gateways (id, host, version, started_at, seen_at) VALUES ($1, 'here', '1', now(), now())`,
    [id],
  );
  return id;
}

let names = 0;
const BIND = { hosts: [{ host: '127.0.0.1', port: 2775 }], systemId: 'us', password: 'k3Vd9qLz', carrier: 'north' };

describe('connections', () => {
  it.each([
    '{"state":"unbound","since":"x"}',
    '{"state":"bound","since":"x","host":5,"windowUsed":{},"lastError":[]}',
    '5',
    '"x"',
    'null',
    '[]',
  ])('A37 a stored status of %s neither hides binds and systems nor keeps them from changes', async (status) => {
    const owner = await gateway();
    const bind = await admin.post('binds', { ...BIND, name: `poisoned ${(names += 1)}`, enabled: false });
    const system = await admin.post('smpp-systems', { systemId: `poisoned${names}` });
    expect([bind.status, system.status]).toEqual([201, 201]);
    const [bindId, systemId] = [parseId('bind', idOf(bind)), parseId('sys', idOf(system))];
    await stolen.query('INSERT INTO bind_connections (bind_id, slot) VALUES ($1, 0), ($1, 1)', [bindId]);
    await stolen.query(
      `UPDATE bind_connections SET status = $2, owner = $3,
         expires_at = CASE slot WHEN 0 THEN now() + interval '10 seconds' ELSE '0001-01-01 BC' END
       WHERE bind_id = $1`,
      [bindId, status, owner],
    );
    await stolen.query(
      `INSERT INTO system_connections (id, system_id, gateway_id, address, bind_type, since, status)
       SELECT gen_random_uuid(), $1, $2, '192.0.2.1:4000', 'transceiver', since, $3
       FROM unnest('{now,0001-01-01 BC,10000-06-01}'::timestamptz[]) AS since`,
      [systemId, owner, status],
    );
    for (const path of ['binds', 'smpp-systems', 'gateways', `binds/${idOf(bind)}`, `smpp-systems/${idOf(system)}`])
      expect([path, (await admin.get(path)).status]).toEqual([path, 200]);
    expect((await admin.patch(`binds/${idOf(bind)}`, { window: 5 })).status).toBe(200);
    expect((await admin.patch(`smpp-systems/${idOf(system)}`, { carrier: 'north' })).status).toBe(200);
  });
});

describe('messages', () => {
  const MESSAGE = `
    INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding,
      text_sealed, fate)
    VALUES ($1, 'in', 'north', gen_random_uuid(), $2, 1, 1, '', 0, $3, 'no_token')`;

  it.each([
    ['text that no process sealed', '+14155552671', Buffer.alloc(100, 1)],
    ['text of no key', '+14155552671', Buffer.from([2, 99, ...Buffer.alloc(60)])],
    ['empty text', '+14155552671', Buffer.alloc(0)],
    ['number that is none', 'a\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}', Buffer.alloc(100, 1)],
  ])('A37 a message with a %s is shown and revealed without it', async (_, source, sealed) => {
    const id = harness.clock.newId();
    await stolen.query(MESSAGE, [id, source, sealed]);
    const path = `messages/${renderId('msg', id)}`;
    expect((await admin.get(path)).status).toBe(200);
    expect((await (await admin.colleague('viewer', `viewer ${(names += 1)}`)).get(path)).status).toBe(200);
    const revealed = await admin.post(`${path}/reveal`);
    expect([revealed.status, revealed.json['text']]).toEqual([202, null]);
  });
});
