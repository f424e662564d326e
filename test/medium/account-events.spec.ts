import { EventStore, type DispatchSnapshot } from '@countersign/events';
import { firstIdAt, lastIdAt, type Uuid } from '@countersign/ids';
import type { Tenant } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { READ_UNSEEN } from '../../libs/events/src/event-store.sql.js';
import { AccountEventPoller, type ReadTenant } from '../../apps/control-plane/src/realtime/account-event.poller.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

let harness: SessionHarness;
let live: Tenant;
let poller: AccountEventPoller;
/** The snapshot up to which events have been read. */
let seen: DispatchSnapshot;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 25 });
  live = { accountId: harness.account.id, mode: 'live' };
});
afterAll(() => harness.close());
beforeEach(async () => {
  await harness.database.query('DELETE FROM events');
  poller = new AccountEventPoller(harness.database, new EventStore());
  seen = await poller.snapshot();
});

/** Events that are dispatched now, one millisecond after the other. */
async function dispatched(
  { test = false, type = 'verification.completed', count = 1 } = {},
  db: Executor = harness.database,
): Promise<Uuid[]> {
  const ids = Array.from({ length: count }, () => harness.clock.newId());
  await db.query(
    `INSERT INTO events (id, type, account_id, test, session_id, data, occurred_at, dispatched_at, dispatch_xid)
     SELECT id, $2, $3, $4, id, 'null', now(),
       date_trunc('milliseconds', clock_timestamp()) + (place - 1) * interval '1 millisecond', pg_current_xact_id()
     FROM unnest($1::uuid[]) WITH ORDINALITY AS made (id, place)`,
    [ids, type, live.accountId, test],
  );
  return ids;
}

/** The sets of events that were dispatched since the last read. */
async function readSets(tenants: readonly ReadTenant[] = [{ tenant: live, seen }]): Promise<Uuid[][]> {
  const until = await poller.snapshot();
  const sets: Uuid[][] = [];
  for await (const events of poller.unseen(tenants, until)) sets.push(events.map(({ id }) => id));
  seen = until;
  return sets;
}
const read = async (): Promise<Uuid[]> => (await readSets()).flat();

describe('events of subscribed accounts', () => {
  it('are read once, in order of their dispatch', async () => {
    const ids = await dispatched({ count: 3 });
    expect([await read(), await read()]).toEqual([ids, []]);
  });

  it('are not read if they were dispatched before the first snapshot, are of the other mode, or of no known type', async () => {
    await dispatched();
    seen = await poller.snapshot();
    await dispatched({ test: true });
    await dispatched({ type: 'unknown' });
    expect(await read()).toEqual([]);
  });

  it.each([0, 1, 3])('are read when their dispatch commits, %s reads after its begin', async (reads) => {
    const [early] = await dispatched();
    const other = await Database.open({
      url: harness.url,
      poolMax: 1,
      applicationName: 'held',
      onError: () => undefined,
    });
    const found: Uuid[] = [];
    const held = await other.transaction(async (tx) => {
      const ids = await dispatched({}, tx);
      for (let at = 0; at < reads; at += 1) {
        await dispatched();
        found.push(...(await read()));
      }
      return ids;
    });
    await other.close();
    expect(found).toHaveLength(reads === 0 ? 0 : reads + 1);
    expect(await read()).toEqual(reads === 0 ? [early, ...held] : held);
  });

  it('are read a thousand at a time, of each tenant', async () => {
    const ids = await dispatched({ count: 2_500 });
    const [ofTest] = await dispatched({ test: true });
    const tenants = [live, { ...live, mode: 'test' as const }].map((tenant) => ({ tenant, seen }));
    const sets = await readSets(tenants);
    expect(sets.map(({ length }) => length)).toEqual([1_001, 1_000, 500]);
    expect(sets.flat().filter((id) => id !== ofTest)).toEqual(ids);
  });

  it('are read by their index, in the partitions of the last day alone', async () => {
    const nowMs = harness.clock.nowMs();
    const [low, high] = [firstIdAt(nowMs - 86_400_000), lastIdAt(nowMs + 60_000)];
    const position = [[live.accountId], [false], [seen.text], [new Date(nowMs - 1_000)], [firstIdAt(0)]];
    const rows = await harness.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, COSTS OFF) ${READ_UNSEEN}`, [
      ...position,
      seen.text,
      1_000,
      low,
      high,
    ]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan on events');
    expect(plan.match(/(?:Index|Bitmap).* on events_p/g)?.length).toBeLessThanOrEqual(3);
  });
});
