import { EventStore, type NewEvent } from '@countersign/events';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { DatabaseUnavailable, type Executor, TransactionConflict } from '@countersign/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EventRefused } from '../../apps/control-plane/src/events/event-fault.js';
import type { EventSubscriber } from '../../apps/control-plane/src/events/event.subscriber.js';
import { Outbox } from '../../apps/control-plane/src/events/outbox.js';
import { asOwner } from '../support/database.js';
import { deliveryWorkerOf } from '../support/delivery-store.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const events = new EventStore();

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['deliveries', 'events']) await harness.database.query(`DELETE FROM ${table}`);
});

function newEvent(changes: Partial<NewEvent> = {}): NewEvent {
  const { account, clock } = harness;
  return {
    ...{ id: clock.newId(), type: 'verification.cancelled', accountId: account.id, test: false },
    ...{ sessionId: clock.newId(), occurredAt: new Date(clock.nowMs()), data: '{}', sessionWebhookUrl: null },
    ...changes,
  };
}

async function appended(changes: Partial<NewEvent> = {}): Promise<Uuid> {
  const event = newEvent(changes);
  await events.append(harness.database, [event]);
  return event.id;
}

function outboxWith(...subscribers: EventSubscriber[]): Outbox {
  return new Outbox(harness.database, events, subscribers, { onRefused: () => undefined });
}

/** Whether the event is dispatched, as a connection outside of the transaction reads it. */
async function isDispatched(id: Uuid): Promise<boolean> {
  const [row] = await harness.database.query<{ dispatched: boolean }>(
    'SELECT dispatched_at IS NOT NULL AS dispatched FROM events WHERE id = $1',
    [id],
  );
  return row?.dispatched ?? false;
}

describe('the dispatch of an event', () => {
  it('runs every subscriber in its transaction, and their reactions in order after the commit', async () => {
    const id = await appended();
    const steps: unknown[] = [];
    const subscriber = (name: string): EventSubscriber => ({
      handle: async (tx, found) => {
        const [row] = await tx.query('SELECT dispatched_at IS NOT NULL AS inside FROM events WHERE id = $1', [id]);
        steps.push([found.map((event) => event.id), row, { outside: await isDispatched(id) }]);
        return () => steps.push(`${name} reacts`);
      },
    });
    expect(await outboxWith(subscriber('one'), subscriber('other')).dispatchNamed([id])).toBe(1);
    const handled = [[id], { inside: true }, { outside: false }];
    expect(steps).toEqual([handled, handled, 'one reacts', 'other reacts']);
    expect(await isDispatched(id)).toBe(true);
  });

  it('that commits after a later one is among the events after that one, and an earlier dispatch is not', async () => {
    const [first, slow, fast, last] = [await appended(), await appended(), await appended(), await appended()];
    await outboxWith().dispatchNamed([first]);
    let marked: () => void = () => undefined;
    let release: () => void = () => undefined;
    const isMarked = new Promise<void>((resolve) => (marked = resolve));
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const waiting: EventSubscriber = {
      handle: async () => {
        marked();
        await isReleased;
        return () => undefined;
      },
    };
    const pending = outboxWith(waiting).dispatchNamed([slow]);
    await isMarked;
    await outboxWith().dispatchNamed([fast]);
    const after = async (position: Uuid): Promise<Uuid[] | undefined> => {
      const { id: accountId } = harness.account;
      const found = { accountId, test: false, after: position, withinMs: 60_000 };
      return (await events.findDispatchedAfter(harness.database, found, 10))?.map(({ id }) => id);
    };
    expect(await after(fast)).toEqual([]);
    release();
    await pending;
    expect(await after(fast)).toEqual([slow]);
    await outboxWith().dispatchNamed([last]);
    expect([await after(first), await after(last)]).toEqual([[slow, fast, last], []]);
  });

  it('is rolled back as a whole when one subscriber fails, without any reaction', async () => {
    const id = await appended();
    const reactions: string[] = [];
    const renamed: EventSubscriber = {
      handle: async (tx) => {
        await tx.query(`UPDATE accounts SET name = 'dispatched' WHERE id = $1`, [harness.account.id]);
        return () => reactions.push('renamed');
      },
    };
    const failing: EventSubscriber = { handle: () => Promise.reject(new DatabaseUnavailable('away')) };
    await expect(outboxWith(renamed, failing).dispatchNamed([id])).rejects.toThrow('away');
    const [account] = await harness.database.query('SELECT name FROM accounts WHERE id = $1', [harness.account.id]);
    expect([await isDispatched(id), account, reactions]).toEqual([false, { name: harness.account.name }, []]);
    // The connection of the failed transaction is closed, and the server releases its locks a moment later.
    const dispatchAgain = () => outboxWith(renamed).dispatchUndispatched();
    await until('the event is dispatched', 10_000, async () => (await dispatchAgain()) === 1);
    expect(reactions).toEqual(['renamed']);
  });

  it('happens once, and runs no subscriber without an event', async () => {
    const id = await appended();
    let calls = 0;
    const counting: EventSubscriber = {
      handle: () => {
        calls += 1;
        return Promise.resolve(() => undefined);
      },
    };
    const outboxes = Array.from({ length: 4 }, () => outboxWith(counting));
    const counts = await Promise.all(outboxes.map((outbox) => outbox.dispatchNamed([id])));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await outboxWith(counting).dispatchUndispatched()).toBe(0);
    expect(calls).toBe(1);
  });

  it('includes the insertion of a new event in its transaction', async () => {
    const event = newEvent();
    const failing: EventSubscriber = { handle: () => Promise.reject(new Error('no')) };
    await expect(outboxWith(failing).dispatchNew(event)).rejects.toThrow('no');
    expect(await harness.database.query('SELECT id FROM events')).toEqual([]);
    await outboxWith().dispatchNew(event);
    expect(await isDispatched(event.id)).toBe(true);
  });
});

describe('an event whose dispatch fails', () => {
  const DAY_MS = 86_400_000;
  /** It has a delivery. */
  const SENT = { type: 'verification.completed', sessionWebhookUrl: 'https://acme.example/hook' } as const;

  /** An approved session whose end no Date holds, as a row from before the constraint may have it. */
  async function approvedWithoutEnd(): Promise<Uuid> {
    await asOwner(harness, 'ALTER TABLE sessions DROP CONSTRAINT IF EXISTS sessions_times_check');
    const { id } = await harness.sessions.create(harness.draft());
    await harness.database.query(
      `UPDATE sessions SET status = 'approved', approved_by = 'rcs', ended_at = 'infinity' WHERE id = $1`,
      [id],
    );
    return appended({ type: 'verification.completed', sessionId: id });
  }

  /** An event of a day for which `events` has a partition and `deliveries` has none. */
  async function withoutDeliveryPartition(): Promise<Uuid> {
    const dayMs = Math.floor(harness.clock.nowMs() / DAY_MS) * DAY_MS + 5 * DAY_MS;
    const day = new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '');
    await asOwner(harness, `DROP TABLE deliveries_p${day}`);
    return appended({ id: firstIdAt(dayMs), ...SENT });
  }

  it('of a session whose end no Date holds is dispatched with the others', async () => {
    const unexpected: unknown[] = [];
    const worker = deliveryWorkerOf(harness, (error) => unexpected.push(error));
    const ids = [await appended(SENT), await approvedWithoutEnd(), await appended(SENT)];
    expect(await worker.outbox.dispatchUndispatched()).toBe(ids.length);
    expect(await worker.outbox.dispatchUndispatched()).toBe(0);
    expect(unexpected).toEqual([]);
  });

  it('of a day without a partition for its delivery is refused, and the others of its set are dispatched once', async () => {
    const refused: unknown[] = [];
    const worker = deliveryWorkerOf(harness, (error) => refused.push(error));
    const good: Uuid[] = [];
    for (let made = 0; made < 5; made += 1) good.push(await appended(SENT));
    const bad = await withoutDeliveryPartition();
    expect(await worker.outbox.dispatchUndispatched()).toBe(6);
    expect(refused).toEqual([expect.any(EventRefused)]);
    expect(refused).toMatchObject([{ eventId: bad, fault: 'failed' }]);
    const delivered = await harness.database.query<{ id: Uuid }>('SELECT id FROM deliveries ORDER BY id');
    expect(delivered.map(({ id }) => id)).toEqual([...good].sort());
    expect(await worker.outbox.dispatchUndispatched()).toBe(0);
    expect(refused).toHaveLength(1);
  });

  it.each([
    ['the database is away', () => Promise.reject(new DatabaseUnavailable('away'))],
    ['a conflict is lost', () => Promise.reject(new TransactionConflict('40P01'))],
    ['a statement lacks a column', withoutColumn],
    ['a statement is cancelled', cancelled],
  ] satisfies readonly (readonly [string, (tx: Executor) => Promise<void>])[])(
    'is left for the next poll when %s',
    async (_, fail) => {
      const ids = [await appended(), await appended()];
      const failing: EventSubscriber = {
        handle: async (tx) => {
          await fail(tx);
          return () => undefined;
        },
      };
      await expect(outboxWith(failing).dispatchNamed(ids)).rejects.toThrow();
      expect([await isDispatched(ids[0] ?? ''), await isDispatched(ids[1] ?? '')]).toEqual([false, false]);
      // A connection that is given up may hold its locks for a moment, and locked events are skipped.
      let dispatched = 0;
      await until('the events are dispatched', 10_000, async () => {
        dispatched += await outboxWith().dispatchUndispatched();
        return dispatched === 2;
      });
    },
  );
});

async function cancelled(tx: Executor): Promise<void> {
  await tx.query(`SET LOCAL statement_timeout = '20ms'`);
  await tx.query('SELECT pg_sleep(10)');
}

async function withoutColumn(tx: Executor): Promise<void> {
  await tx.query('SELECT missing FROM events');
}
