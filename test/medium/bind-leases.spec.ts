import { CarrierStore } from '@countersign/carriers/config';
import { BindLeaseStore, GatewayStore, slotKey, type ConnectionStatus } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

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
const runOut = (): Promise<unknown> =>
  harness.database.query(`UPDATE bind_connections SET expires_at = clock_timestamp() - interval '1 ms'`);
const statusOf = async (bindId: Uuid): Promise<unknown> =>
  (
    await harness.database.query<{ status: unknown }>('SELECT status FROM bind_connections WHERE bind_id = $1', [
      bindId,
    ])
  )[0]?.status;

describe('the connections that are wanted', () => {
  it('are those of enabled binds, as many as each asks for', async () => {
    const [one, two] = [await bind(1), await bind(2)];
    await bind(3, false);
    expect((await slots()).map(slotKey)).toEqual([`${one}/0`, `${two}/0`, `${two}/1`]);
    await harness.database.query('UPDATE binds SET connections = 1');
    expect((await slots()).map(slotKey)).toEqual([`${one}/0`, `${two}/0`]);
  });

  it('may be asked for by many gateways at once', async () => {
    await bind(32);
    const surveys = await Promise.all(Array.from({ length: 8 }, () => slots()));
    expect(surveys.map(({ length }) => length)).toEqual(surveys.map(() => 32));
  });
});

describe('a lease', () => {
  it('has one owner, however many gateways claim at once', async () => {
    await bind(20);
    const wanted = await slots();
    const got = await Promise.all(
      Array.from({ length: 8 }, () => store.claimSlots(harness.database, gateway(), wanted)),
    );
    // Those that met another claim passed it over, and come back for what is left.
    const rest = await store.claimSlots(harness.database, gateway(), wanted);
    const keys = [...got.flat(), ...rest].map(slotKey);
    expect(keys).toHaveLength(20);
    expect(new Set(keys).size).toBe(20);
  });

  it('is not to be had by another until it has run out, and then under a higher epoch', async () => {
    await bind(1);
    const [one, other] = [gateway(), gateway()];
    const [first] = await claimAll(one);
    expect(first).toMatchObject({ owner: one, epoch: '1' });
    expect(await claimAll(other)).toEqual([]);
    const [slot] = await slots();
    expect(slot?.owner).toBe(one);
    expect(slot?.leftMs).toBeGreaterThan(10_000);
    expect(slot?.leftMs).toBeLessThanOrEqual(15_000);
    await runOut();
    expect((await slots())[0]).toMatchObject({ owner: null, leftMs: null });
    expect(await claimAll(other)).toMatchObject([{ owner: other, epoch: '2' }]);
  });

  it('may be claimed anew by its owner, who then has another one', async () => {
    await bind(1);
    const one = gateway();
    const [first] = await claimAll(one);
    const [second] = await claimAll(one);
    if (first === undefined || second === undefined) throw new Error('not claimed');
    expect([first.epoch, second.epoch]).toEqual(['1', '2']);
    expect((await store.findHeldLeases(harness.database, [first, second])).size).toBe(1);
  });

  it('is renewed with what its owner sees, and only by its owner at its epoch', async () => {
    const id = await bind(2);
    const one = gateway();
    const leases = await claimAll(one);
    await harness.database.query(`UPDATE bind_connections SET epoch = epoch + 1 WHERE slot = 1`);
    const held = leases.map((lease) => ({ lease, status: STATUS }));
    expect([...(await store.renewLeases(harness.database, one, held))]).toEqual([`${id}/0`]);
    expect(await statusOf(id)).toEqual(STATUS);
    expect(await store.renewLeases(harness.database, gateway(), held)).toEqual(new Set());
  });

  it('of a bind that was deleted goes on until its owner gives it back, and is wanted by nobody', async () => {
    await bind(1);
    const one = gateway();
    const held = (await claimAll(one)).map((lease) => ({ lease, status: STATUS }));
    await harness.database.query('DELETE FROM binds');
    expect((await store.renewLeases(harness.database, one, held)).size).toBe(1);
    expect(await slots()).toEqual([]);
  });

  it('is given back by its owner alone, and to be had at once', async () => {
    await bind(1);
    const [one, other] = [gateway(), gateway()];
    const held = (await claimAll(one)).map((lease) => ({ lease, status: STATUS }));
    await store.releaseLeases(harness.database, other, held);
    expect((await slots())[0]?.owner).toBe(one);
    await store.releaseLeases(harness.database, one, held);
    expect((await slots())[0]?.owner).toBe(null);
    expect(await claimAll(other)).toMatchObject([{ epoch: '2' }]);
  });

  it('holds in a statement while it is its owner’s; run out it holds only for what was done before', async () => {
    await bind(1);
    const leases = await claimAll(gateway());
    expect((await store.findHeldLeases(harness.database, leases)).size).toBe(1);
    await runOut();
    expect((await store.findHeldLeases(harness.database, leases)).size).toBe(0);
    expect((await store.findHeldLeases(harness.database, leases, true)).size).toBe(1);
    await claimAll(gateway());
    expect((await store.findHeldLeases(harness.database, leases, true)).size).toBe(0);
  });
});

describe('a gateway', () => {
  const identity = (id: Uuid) => ({ id, host: 'here', version: '0' });
  const takers = async () => (await store.survey(harness.database)).gateways;

  it('counts while it is seen, and not once it says that it stops', async () => {
    const [one, other] = [gateway(), gateway()].sort();
    if (one === undefined || other === undefined) throw new Error('two were made');
    for (const id of [one, other]) await gateways.recordHeartbeat(harness.database, identity(id), false);
    expect(await takers()).toEqual([one, other]);
    await gateways.recordHeartbeat(harness.database, identity(one), true);
    // What it says later does not take it back.
    await gateways.recordHeartbeat(harness.database, identity(one), false);
    expect(await takers()).toEqual([other]);
    await harness.database.query(`UPDATE gateways SET seen_at = seen_at - interval '15 seconds'`);
    expect(await takers()).toEqual([]);
  });

  it('is forgotten an hour after it died, or when it leaves', async () => {
    const [one, other] = [gateway(), gateway()];
    await gateways.recordHeartbeat(harness.database, identity(one), false);
    await harness.database.query(`UPDATE gateways SET seen_at = seen_at - interval '61 minutes'`);
    await gateways.recordHeartbeat(harness.database, identity(other), false);
    expect(await takers()).toEqual([other]);
    expect(await harness.database.query('SELECT id FROM gateways')).toEqual([{ id: other }]);
    await gateways.deleteGateway(harness.database, other);
    expect(await harness.database.query('SELECT id FROM gateways')).toEqual([]);
  });
});
