import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { until } from '../support/until.js';

const OK = 0;
const ABROAD = '+447400123456';
/** A connection is handed over at the next reconcile, then bound. */
const SHARED_WITHIN_MS = 25_000;

/** North has a connection for each gateway; south, with the better route abroad, has one. */
const north = new Carrier('north');
const south = new Carrier('south');
let harness: OutboundHarness;
let sibling: SiblingGateway;

beforeAll(async () => {
  harness = await OutboundHarness.open([
    { carrier: north, bind: { connections: 2 } },
    { carrier: south, route: { prefix: '+44' } },
  ]);
  sibling = await SiblingGateway.start(harness.gateway);
  await until('each gateway has its share', SHARED_WITHIN_MS, async () => (await ownersOf('north')) === 2);
  await until('south is bound', SHARED_WITHIN_MS, async () => (await ownersOf('south')) === 1);
}, 70_000);
afterAll(async () => {
  await sibling.close();
  await harness.close();
  await Promise.all([north, south].map((carrier) => carrier.close()));
});
afterEach(() => {
  for (const carrier of [north, south]) {
    carrier.script.length = 0;
    carrier.submits.length = 0;
  }
});

async function ownersOf(bind: string): Promise<number> {
  const [row] = await harness.gateway.harness.database.query<{ owners: number }>(
    `SELECT count(DISTINCT c.owner)::int AS owners FROM bind_connections c JOIN binds b ON b.id = c.bind_id
     WHERE b.name = $1 AND c.status->>'state' = 'bound'`,
    [bind],
  );
  return row?.owners ?? 0;
}

async function queue(count: number, changes = {}): Promise<Uuid[]> {
  const session = await harness.gateway.create({ ttlSeconds: 300, ...changes });
  return Promise.all(Array.from({ length: count }, () => harness.queueCode(session)));
}
const allReach = (ids: readonly Uuid[], state: string): Promise<void> =>
  until(`all are ${state}`, 20_000, async () => {
    return (await Promise.all(ids.map((id) => harness.code(id)))).every((code) => code.state === state);
  });

describe('two gateways', () => {
  it('send every code once, over the connections of both', async () => {
    const ids = await queue(60);
    await allReach(ids, 'submitted');
    expect(north.submits).toHaveLength(60);
  }, 30_000);

  it('leave a code to the gateway bound to the better route, whichever is notified', async () => {
    // One at a time, so that each gateway consumes some of the jobs.
    for (let count = 0; count < 10; count++) await allReach(await queue(1, { phone: ABROAD }), 'submitted');
    expect([south.submits.length, north.submits.length]).toEqual([10, 0]);
  }, 60_000);

  it('use the next route when the better bind is bound nowhere', async () => {
    await harness.sql(`UPDATE binds SET enabled = false WHERE name = 'south'`);
    await until('south is unbound', 10_000, () => !south.isBound);
    await allReach(await queue(4, { phone: ABROAD }), 'submitted');
    expect([south.submits.length, north.submits.length]).toEqual([0, 4]);
  }, 30_000);

  it('match a receipt over any connection', async () => {
    const ids = await queue(20);
    await allReach(ids, 'submitted');
    // All receipts over one connection, whichever gateway sent the code.
    for (const id of ids)
      expect(await north.sendReceipt((await harness.code(id)).smscMessageId ?? '', 'DELIVRD')).toBe(OK);
    await allReach(ids, 'delivered');
  }, 30_000);
});
