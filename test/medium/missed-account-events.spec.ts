import { EventStore } from '@countersign/events';
import { firstIdAt, type Uuid } from '@countersign/ids';
import type { Tenant } from '@countersign/keys';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { READ_DISPATCHED_UNTIL } from '../../libs/events/src/event-store.sql.js';
import {
  AccountSubscriptions,
  type AccountSubscription,
} from '../../apps/control-plane/src/realtime/account-subscriptions.js';
import { MissedAccountEventPoller } from '../../apps/control-plane/src/realtime/missed-account-event.poller.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const SUBSCRIPTION: AccountSubscription = { deliver: () => undefined };

let harness: SessionHarness;
let live: Tenant;
let nowMs: number;
let subscriptions: AccountSubscriptions;
let poller: MissedAccountEventPoller;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 25 });
  live = { accountId: harness.account.id, mode: 'live' };
});
afterAll(() => harness.close());
beforeEach(async () => {
  await harness.database.query('DELETE FROM events');
  nowMs = harness.clock.nowMs();
  const clock = { nowMs: () => nowMs };
  subscriptions = new AccountSubscriptions(clock);
  poller = new MissedAccountEventPoller(harness.database, clock, new EventStore(), subscriptions);
});

/** Events that were dispatched `afterMs` after the subscription, one millisecond after the other. */
async function dispatched(
  afterMs: number,
  { test = false, type = 'verification.completed', count = 1 } = {},
): Promise<Uuid[]> {
  const ids = Array.from({ length: count }, () => harness.clock.newId());
  await harness.database.query(
    `INSERT INTO events (id, type, account_id, test, session_id, data, occurred_at, dispatched_at)
     SELECT id, $2, $3, $4, id, 'null', $5, $5::timestamptz + (place - 1) * interval '1 millisecond'
     FROM unnest($1::uuid[]) WITH ORDINALITY AS made (id, place)`,
    [ids, type, live.accountId, test, new Date(harness.clock.nowMs() + afterMs)],
  );
  return ids;
}

const found = async (): Promise<Uuid[]> => (await poller.poll()).events.map(({ id }) => id);

describe('events of subscribed accounts', () => {
  it('are found once, five seconds after their dispatch, in its order', async () => {
    subscriptions.add(live, SUBSCRIPTION);
    const ids = await dispatched(1_000, { count: 3 });
    nowMs += 5_000;
    expect(await found()).toEqual([]);
    nowMs += 2_000;
    expect(await found()).toEqual(ids);
    nowMs += 60_000;
    expect(await found()).toEqual([]);
  });

  it('are not found if they were dispatched before the subscription, are of the other mode, or of no known type', async () => {
    await dispatched(-1_000);
    subscriptions.add(live, SUBSCRIPTION);
    await dispatched(1_000, { test: true });
    await dispatched(1_000, { type: 'unknown' });
    nowMs += 10_000;
    expect(await found()).toEqual([]);
  });

  it('are not looked for without a subscription, and from its time on after a new one', async () => {
    subscriptions.add(live, SUBSCRIPTION);
    subscriptions.remove(live, SUBSCRIPTION);
    await dispatched(1_000);
    nowMs += 10_000;
    expect(await found()).toEqual([]);
    subscriptions.add(live, SUBSCRIPTION);
    const later = await dispatched(11_000);
    nowMs += 10_000;
    expect(await found()).toEqual(later);
  });

  it('are found a thousand at a time, of each tenant', async () => {
    subscriptions.add(live, SUBSCRIPTION);
    subscriptions.add({ ...live, mode: 'test' }, SUBSCRIPTION);
    const ids = await dispatched(1_000, { count: 2_500 });
    const [ofTest] = await dispatched(1_000, { test: true });
    nowMs += 20_000;
    const sets = [await poller.poll(), await poller.poll(), await poller.poll()];
    expect(sets.map(({ events, more }) => [events.length, more])).toEqual([
      [1_001, true],
      [1_000, true],
      [500, false],
    ]);
    const all = sets.flatMap(({ events }) => events.map(({ id }) => id));
    expect(all.filter((id) => id !== ofTest)).toEqual(ids);
  });

  it('are read by their index, in the partitions of the last minutes alone', async () => {
    const at = new Date(nowMs);
    const [low, high] = [firstIdAt(nowMs - 600_000), firstIdAt(nowMs + 60_000)];
    const values = [[live.accountId], [false], [at], [firstIdAt(0)], at, 1_000, low, high];
    const rows = await harness.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF) ${READ_DISPATCHED_UNTIL}`,
      values,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan on events');
    expect(plan.match(/(?:Index|Bitmap).* on events_p/g)?.length).toBeLessThanOrEqual(2);
  });
});
