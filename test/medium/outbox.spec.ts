import { EventStore, type NewEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EventSubscriber } from '../../apps/control-plane/src/events/event.subscriber.js';
import { Outbox } from '../../apps/control-plane/src/events/outbox.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const events = new EventStore();

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());
afterEach(() => harness.database.query('DELETE FROM events'));

function newEvent(): NewEvent {
  const { account, clock } = harness;
  return {
    ...{ id: clock.newId(), type: 'verification.cancelled', accountId: account.id, test: false },
    ...{ sessionId: clock.newId(), occurredAt: new Date(clock.nowMs()), data: '{}', sessionWebhookUrl: null },
  };
}

async function appended(): Promise<Uuid> {
  const event = newEvent();
  await events.append(harness.database, [event]);
  return event.id;
}

function outboxWith(...subscribers: EventSubscriber[]): Outbox {
  const outbox = new Outbox({ database: harness.database, events, onRefused: () => undefined });
  outbox.subscribe(subscribers);
  return outbox;
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

  it('is rolled back as a whole when one subscriber fails, without any reaction', async () => {
    const id = await appended();
    const reactions: string[] = [];
    const renamed: EventSubscriber = {
      handle: async (tx) => {
        await tx.query(`UPDATE accounts SET name = 'dispatched' WHERE id = $1`, [harness.account.id]);
        return () => reactions.push('renamed');
      },
    };
    const failing: EventSubscriber = { handle: () => Promise.reject(new Error('no partition')) };
    await expect(outboxWith(renamed, failing).dispatchNamed([id])).rejects.toThrow('no partition');
    const [account] = await harness.database.query('SELECT name FROM accounts WHERE id = $1', [harness.account.id]);
    expect([await isDispatched(id), account, reactions]).toEqual([false, { name: harness.account.name }, []]);
    expect(await outboxWith(renamed).dispatchUndispatched()).toBe(1);
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
