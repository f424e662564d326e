import type { ConnectionStatus } from '@countersign/carriers/status';
import type { Uuid } from '@countersign/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { GatewayHarness, sms } from '../support/gateway-harness.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { until } from '../support/until.js';
import { WitnessCarrier } from '../support/witness-carrier.js';

const OK = 0;
const QUEUE_FULL = 0x14;
/** Rows are read every 2 s, then a link is opened. */
const CONVERGED_WITHIN_MS = 5_000;
/** Limit after a crash of the owner (contract, Admin). */
const TAKEN_OVER_WITHIN_MS = 20_000;

let gateway: GatewayHarness;
let siblings: SiblingGateway[] = [];
let carrier: Carrier;
let hosts: { host: string; port: number }[];

beforeEach(async () => {
  gateway = await GatewayHarness.open();
  carrier = new Carrier('north');
  hosts = [{ host: '127.0.0.1', port: await carrier.listen() }];
});
afterEach(async () => {
  await Promise.all([gateway.stop(), ...siblings.map((sibling) => sibling.close())]);
  siblings = [];
  await gateway.close();
  await carrier.close();
});

async function sibling(): Promise<SiblingGateway> {
  const started = await SiblingGateway.start(gateway);
  siblings.push(started);
  return started;
}

interface Connection {
  readonly slot: number;
  readonly owner: Uuid | null;
  readonly epoch: string;
  readonly state: string | null;
}
const sql = <Row extends object>(statement: string): Promise<Row[]> => gateway.harness.database.query<Row>(statement);
const connections = (): Promise<Connection[]> =>
  sql(`SELECT slot, owner, epoch::text, status->>'state' AS state FROM bind_connections ORDER BY bind_id, slot`);
const bound = async (count: number): Promise<boolean> => {
  const rows = await connections();
  return (
    rows.length >= count && rows.filter(({ state, owner }) => state === 'bound' && owner !== null).length === count
  );
};
const owners = async (): Promise<number[]> => {
  const rows = await sql<{ count: number }>(
    'SELECT count(*)::int AS count FROM bind_connections WHERE owner IS NOT NULL GROUP BY owner ORDER BY 1',
  );
  return rows.map(({ count }) => count);
};
const statusOf = async (): Promise<Partial<ConnectionStatus>> =>
  (await sql<{ status: Partial<ConnectionStatus> }>('SELECT status FROM bind_connections'))[0]?.status ?? {};

describe('two gateways', () => {
  it('share the wanted connections, each held by one gateway', async () => {
    await sibling();
    await gateway.bind({ name: 'shared', hosts, connections: 4 });
    await until('all are bound', CONVERGED_WITHIN_MS, () => bound(4));
    expect(await owners()).toEqual([2, 2]);
    expect(carrier.links).toBe(4);
  });

  it('reach equal shares after one joins', async () => {
    await gateway.bind({ name: 'shared', hosts, connections: 2 });
    await until('both are bound', CONVERGED_WITHIN_MS, () => bound(2));
    expect(await owners()).toEqual([2]);
    await sibling();
    await until(
      'each gateway has one connection',
      15_000,
      async () => (await owners()).length === 2 && (await bound(2)),
    );
  });

  it('take over within 3 s from a stopping gateway, under a higher epoch', async () => {
    // Records times: the gap between two links can be shorter than a poll interval.
    const witness = new WitnessCarrier();
    await gateway.bind({ name: 'shared', hosts: [{ host: '127.0.0.1', port: await witness.listen() }] });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    const [before] = await connections();
    await sibling();
    const stopped = gateway.stop();
    await until('the first link is closed', 5_000, () => (witness.links[0]?.closedMs ?? null) !== null);
    await until('the bind is bound again', 3_000, () => (witness.links[1]?.boundMs ?? null) !== null);
    await stopped;
    await until('the row shows the state', 1_000, () => bound(1));
    expect(witness.links.map(({ unboundMs }) => unboundMs !== null)).toEqual([true, false]);
    expect(witness.links[1]?.boundMs).toBeGreaterThan(witness.links[0]?.unboundMs ?? Infinity);
    const [after] = await connections();
    expect(after?.owner).not.toBe(before?.owner);
    expect(after?.epoch).toBe('2');
    expect(await sql('SELECT id FROM gateways')).toEqual([{ id: after?.owner }]);
    await witness.close();
  });

  it('fence a gateway without the database: its link ends before the other one binds, its listener answers with the retryable status', async () => {
    await gateway.system({ systemId: 'in' });
    await gateway.bind({ name: 'shared', hosts });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    const [before] = await connections();
    await sibling();
    const esme = await gateway.esme('in');
    let most = 0;
    await gateway.line.cut();
    await until('the gateway has fenced itself', 12_000, () => {
      most = Math.max(most, carrier.links);
      return carrier.links === 0;
    });
    expect(await esme.send('submit_sm', sms('hello'))).toMatchObject({ command_status: QUEUE_FULL });
    await until('the other gateway is bound', TAKEN_OVER_WITHIN_MS, () => {
      most = Math.max(most, carrier.links);
      return carrier.isBound;
    });
    expect(most).toBe(1);
    await until('the row shows the state', 1_000, () => bound(1));
    expect((await connections())[0]?.owner).not.toBe(before?.owner);
    await gateway.line.mend();
  }, 60_000);

  it('store no MO over a connection whose lease was taken, and close that connection', async () => {
    await gateway.bind({ name: 'shared', hosts });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    expect(await carrier.deliver(sms('before'))).toBe(OK);
    await sql(`UPDATE bind_connections SET owner = bind_id, epoch = epoch + 1,
      expires_at = clock_timestamp() + interval '15 seconds'`);
    expect(await carrier.deliver(sms('after'))).toBe(QUEUE_FULL);
    await until('the connection is closed', 6_000, () => carrier.links === 0);
    expect((await gateway.messages()).map(({ text }) => text)).toEqual(['before']);
    expect(await gateway.metric('countersign_leases_lost_total{reason="taken"')).toBe(1);
  });
});

describe('a bound connection', () => {
  it('reconnects on a new generation of its row, under the same lease', async () => {
    await gateway.bind({ name: 'steered', hosts });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    const { since } = await statusOf();
    await sql('UPDATE binds SET generation = 1');
    // `since` is also new while the former connection drains.
    const hasReconnected = async (): Promise<boolean> => {
      const status = await statusOf();
      return status.state === 'bound' && status.since !== since && (await bound(1));
    };
    await until('the connection is new', CONVERGED_WITHIN_MS, hasReconnected);
    expect(await statusOf()).toMatchObject({ host: `127.0.0.1:${hosts[0]?.port}`, state: 'bound', lastError: null });
    expect((await connections())[0]?.epoch).toBe('1');
  });

  it('that is no longer wanted is unbound and released with its last status', async () => {
    await gateway.bind({ name: 'drained', hosts });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    await sql('UPDATE binds SET enabled = false');
    await until('the bind is unbound', CONVERGED_WITHIN_MS, async () => (await owners()).length === 0);
    expect(carrier.links).toBe(0);
    expect((await connections())[0]).toMatchObject({ owner: null, state: 'unbound', epoch: '1' });
  });

  it('of a deleted bind sends an unbind', async () => {
    const witness = new WitnessCarrier();
    const { id } = await gateway.bind({
      name: 'deleted',
      hosts: [{ host: '127.0.0.1', port: await witness.listen() }],
    });
    await until('the bind is bound', CONVERGED_WITHIN_MS, () => bound(1));
    await gateway.harness.database.query('DELETE FROM binds WHERE id = $1', [id]);
    await until('the link is closed', CONVERGED_WITHIN_MS, () => witness.bound.length === 0);
    expect(witness.links.map(({ unboundMs }) => unboundMs !== null)).toEqual([true]);
    expect(await gateway.metric('countersign_leases_lost_total')).toBe(0);
    await witness.close();
  });

  it('starts at a different host per slot, and uses the next one after a failure', async () => {
    const second = new Carrier('south');
    const all = [...hosts, { host: '127.0.0.1', port: await second.listen() }];
    await gateway.bind({ name: 'spread', hosts: all, connections: 2 });
    await until('both are bound', CONVERGED_WITHIN_MS, () => bound(2));
    expect([carrier.links, second.links]).toEqual([1, 1]);
    await second.close();
    await until('both are bound to the first host', 10_000, () => carrier.links === 2);
  });
});
