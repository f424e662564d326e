import { type Bind, CarrierStore } from '@countersign/carriers/config';
import { BindLeaseStore, GatewayStore, slotKey } from '@countersign/carriers/leases';
import { withEvent, type ConnectionStatus } from '@countersign/carriers/status';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const store = new BindLeaseStore();
const gateways = new GatewayStore();
const STATUS: ConnectionStatus = {
  host: '127.0.0.1:2775',
  state: 'bound',
  since: '2025-11-21T12:00:00.000Z',
  windowUsed: 3,
  submitPerSecond: 12.5,
  deliverPerSecond: 0,
  throttled: 1,
  enquireLinkMs: 4,
  reconnects: 2,
  lastError: null,
};

let harness: SessionHarness;
let carriers: CarrierStore;
let count = 0;

beforeAll(async () => {
  harness = await openSessionHarness();
  carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['binds', 'bind_connections', 'gateways']) await harness.database.query(`DELETE FROM ${table}`);
});

async function bind(connections: number, enabled = true): Promise<Uuid> {
  count += 1;
  const { id } = await carriers.createBind(harness.database, {
    name: `bind ${count}`,
    carrier: 'north',
    hosts: [{ host: '127.0.0.1', port: 2775 }],
    systemId: 'us',
    password: 'secret08',
    connections,
    enabled,
  });
  return id;
}
const slots = async () => (await store.survey(harness.database)).slots;
const gateway = (): Uuid => harness.clock.newId();
const claimAll = async (owner: Uuid) => store.claimSlots(harness.database, owner, await slots());
const expireLeases = (): Promise<unknown> =>
  harness.database.query(`UPDATE bind_connections SET expires_at = clock_timestamp() - interval '1 ms'`);
const statusOf = async (bindId: Uuid): Promise<unknown> =>
  (
    await harness.database.query<{ status: unknown }>('SELECT status FROM bind_connections WHERE bind_id = $1', [
      bindId,
    ])
  )[0]?.status;

describe('the survey of wanted connections', () => {
  it('lists the connections of enabled binds', async () => {
    const [one, two] = [await bind(1), await bind(2)];
    await bind(3, false);
    expect((await slots()).map(slotKey)).toEqual([`${one}/0`, `${two}/0`, `${two}/1`]);
    await harness.database.query('UPDATE binds SET connections = 1');
    expect((await slots()).map(slotKey)).toEqual([`${one}/0`, `${two}/0`]);
  });

  it('is the same for concurrent gateways', async () => {
    await bind(32);
    const surveys = await Promise.all(Array.from({ length: 8 }, () => slots()));
    expect(surveys.map(({ length }) => length)).toEqual(surveys.map(() => 32));
  });
});

describe('a lease', () => {
  it('has one owner, however many gateways claim at once', async () => {
    await bind(20);
    const wanted = await slots();
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => store.claimSlots(harness.database, gateway(), wanted)),
    );
    // Concurrent claims skip locked rows; a later claim obtains the rest.
    const rest = await store.claimSlots(harness.database, gateway(), wanted);
    const keys = [...claims.flat(), ...rest].map(slotKey);
    expect(keys).toHaveLength(20);
    expect(new Set(keys).size).toBe(20);
  });

  it('cannot be claimed by another gateway until it expires, and then has a higher epoch', async () => {
    await bind(1);
    const [one, other] = [gateway(), gateway()];
    const [first] = await claimAll(one);
    expect(first).toMatchObject({ owner: one, epoch: '1' });
    expect(await claimAll(other)).toEqual([]);
    const [slot] = await slots();
    expect(slot?.owner).toBe(one);
    expect(slot?.leftMs).toBeGreaterThan(10_000);
    expect(slot?.leftMs).toBeLessThanOrEqual(15_000);
    await expireLeases();
    expect((await slots())[0]).toMatchObject({ owner: null, leftMs: null });
    expect(await claimAll(other)).toMatchObject([{ owner: other, epoch: '2' }]);
  });

  it('can be claimed again by its owner, with a new epoch', async () => {
    await bind(1);
    const one = gateway();
    const [first] = await claimAll(one);
    const [second] = await claimAll(one);
    if (first === undefined || second === undefined) throw new Error('not claimed');
    expect([first.epoch, second.epoch]).toEqual(['1', '2']);
    expect((await store.findHeldLeases(harness.database, [first, second])).size).toBe(1);
  });

  it('stores the events of its connection, which the next holder gets with its claim', async () => {
    const id = await bind(1);
    const [one, other] = [gateway(), gateway()];
    const [lease] = await claimAll(one);
    if (lease === undefined) throw new Error('not claimed');
    expect(lease.events).toEqual([]);
    const at = '2026-01-31T12:00:00.000Z';
    const events = withEvent([], { event: 'bound', at, host: '127.0.0.1:2775', error: null, gatewayId: one });
    await store.renewLeases(harness.database, one, [{ lease, status: STATUS, events }]);
    expect(await store.findEvents(harness.database, id)).toEqual([{ slot: 0, events }]);
    // Without events the stored ones stay.
    await store.renewLeases(harness.database, one, [{ lease, status: STATUS }]);
    await store.releaseLeases(harness.database, one, [{ lease, status: STATUS }]);
    expect(await claimAll(other)).toMatchObject([{ owner: other, events }]);
  });

  it('is claimed and renewed beside stored events that no gateway writes', async () => {
    const id = await bind(1);
    const [one] = [gateway()];
    await slots();
    const stored = JSON.stringify([{ event: 'bound', at: 'never' }, 7, null]);
    await harness.database.query('UPDATE bind_connections SET events = $2::jsonb WHERE bind_id = $1', [id, stored]);
    const [lease] = await claimAll(one);
    expect(lease?.events).toEqual([]);
    expect(await store.findEvents(harness.database, id)).toEqual([{ slot: 0, events: [] }]);
  });

  it('is renewed by a holder that adds to events which fill the row', async () => {
    const id = await bind(1);
    const one = gateway();
    await slots();
    const at = '2026-01-31T12:00:00.000Z';
    const known = { event: 'bound', at, lastAt: at, times: 1, error: null, gatewayId: one } as const;
    const stored = JSON.stringify([{ ...known, host: 'x'.repeat(130_800) }]);
    await harness.database.query('UPDATE bind_connections SET events = $2::jsonb WHERE bind_id = $1', [id, stored]);
    const [lease] = await claimAll(one);
    if (lease === undefined) throw new Error('not claimed');
    const events = withEvent(lease.events, { event: 'unbound', at, host: null, error: null, gatewayId: one });
    expect(events.map(({ event }) => event)).toEqual(['bound', 'unbound']);
    expect((await store.renewLeases(harness.database, one, [{ lease, status: STATUS, events }])).size).toBe(1);
  });

  it('is renewed with the connection status, only by its owner at its epoch', async () => {
    const id = await bind(2);
    const one = gateway();
    const leases = await claimAll(one);
    await harness.database.query(`UPDATE bind_connections SET epoch = epoch + 1 WHERE slot = 1`);
    const held = leases.map((lease) => ({ lease, status: STATUS }));
    expect([...(await store.renewLeases(harness.database, one, held))]).toEqual([`${id}/0`]);
    expect(await statusOf(id)).toEqual(STATUS);
    expect(await store.renewLeases(harness.database, gateway(), held)).toEqual(new Set());
  });

  it('of a deleted bind is renewed until its release, and is no longer surveyed', async () => {
    await bind(1);
    const one = gateway();
    const held = (await claimAll(one)).map((lease) => ({ lease, status: STATUS }));
    await harness.database.query('DELETE FROM binds');
    expect((await store.renewLeases(harness.database, one, held)).size).toBe(1);
    expect(await slots()).toEqual([]);
  });

  it('is released only by its owner, and can be claimed at once', async () => {
    await bind(1);
    const [one, other] = [gateway(), gateway()];
    const held = (await claimAll(one)).map((lease) => ({ lease, status: STATUS }));
    await store.releaseLeases(harness.database, other, held);
    expect((await slots())[0]?.owner).toBe(one);
    await store.releaseLeases(harness.database, one, held);
    expect((await slots())[0]?.owner).toBe(null);
    expect(await claimAll(other)).toMatchObject([{ epoch: '2' }]);
  });

  it('is held in a statement until its expiry; an expired one only for records of earlier operations', async () => {
    await bind(1);
    const leases = await claimAll(gateway());
    expect((await store.findHeldLeases(harness.database, leases)).size).toBe(1);
    await expireLeases();
    expect((await store.findHeldLeases(harness.database, leases)).size).toBe(0);
    expect((await store.findHeldLeases(harness.database, leases, true)).size).toBe(1);
    await claimAll(gateway());
    expect((await store.findHeldLeases(harness.database, leases, true)).size).toBe(0);
  });
});

describe('a gateway', () => {
  const identity = (id: Uuid) => ({ id, host: 'here', version: '0' });
  const activeGateways = async () => (await store.survey(harness.database)).gateways;

  it('is active while its row is current, until it announces its stop', async () => {
    const [one, other] = [gateway(), gateway()].sort();
    if (one === undefined || other === undefined) throw new Error('expected two ids');
    for (const id of [one, other]) await gateways.recordHeartbeat(harness.database, identity(id), false);
    expect(await activeGateways()).toEqual([one, other]);
    await gateways.recordHeartbeat(harness.database, identity(one), true);
    expect(await activeGateways()).toEqual([other]);
    await harness.database.query(`UPDATE gateways SET seen_at = seen_at - interval '15 seconds'`);
    expect(await activeGateways()).toEqual([]);
  });

  it('has its row deleted an hour after its last beat, or on removal', async () => {
    const [one, other] = [gateway(), gateway()];
    await gateways.recordHeartbeat(harness.database, identity(one), false);
    await harness.database.query(`UPDATE gateways SET seen_at = seen_at - interval '61 minutes'`);
    await gateways.recordHeartbeat(harness.database, identity(other), false);
    expect(await activeGateways()).toEqual([other]);
    expect(await harness.database.query('SELECT id FROM gateways')).toEqual([{ id: other }]);
    await gateways.deleteGateway(harness.database, other);
    expect(await harness.database.query('SELECT id FROM gateways')).toEqual([]);
  });
});

describe('a connection that the carrier opens', () => {
  const OUTBIND = { systemId: 'smsc', allowedCidrs: ['192.0.2.0/24'] };
  const waitingBind = (connections: number): Promise<Bind> => {
    return carriers.createBind(harness.database, {
      name: `out ${connections}`,
      carrier: 'north',
      hosts: [{ host: '127.0.0.1', port: 2775 }],
      systemId: 'us',
      password: 'secret08',
      connections,
      outbind: OUTBIND,
      outbindPassword: 'come',
    });
  };
  const claim = (of: Bind) => store.claimOutbindSlot(harness.database, gateway(), of);

  it('is claimed by one gateway each, however many are asked at once', async () => {
    const waiting = await waitingBind(4);
    // Its connections get rows, and are not wanted of gateways.
    expect(await slots()).toEqual([]);
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(waiting)));
    const held = claims.filter((lease) => lease !== null).map(({ slot, epoch }) => `${slot}/${epoch}`);
    expect(held.sort()).toEqual(['0/1', '1/1', '2/1', '3/1']);
    await expireLeases();
    expect(await claim(waiting)).toMatchObject({ slot: 0, epoch: '2' });
  });

  it('is claimed before a survey has written its row', async () => {
    expect(await claim(await waitingBind(1))).toMatchObject({ slot: 0, epoch: '1' });
  });

  it('is waited for while its row is locked', async () => {
    const waiting = await waitingBind(1);
    await slots();
    const claimed = await harness.database.transaction(async (tx) => {
      await tx.query('SELECT FROM bind_connections FOR UPDATE');
      const pending = claim(waiting);
      await until('the claim waits', 5_000, async () => {
        const [row] = await tx.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()`,
        );
        return (row?.count ?? 0) > 0;
      });
      return { pending };
    });
    expect(await claimed.pending).toMatchObject({ slot: 0, epoch: '1' });
  });

  it('is not claimed for a bind that was disabled or changed since it was read', async () => {
    const waiting = await waitingBind(1);
    const other = { ...OUTBIND, systemId: 'other' };
    expect(await claim({ ...waiting, outbind: other })).toBeNull();
    expect(await claim({ ...waiting, outbindPasswordSealed: Buffer.from('other') })).toBeNull();
    await harness.database.query('UPDATE binds SET enabled = false');
    expect(await claim(waiting)).toBeNull();
    await harness.database.query('UPDATE binds SET enabled = true');
    expect(await claim(waiting)).toMatchObject({ slot: 0 });
  });
});
