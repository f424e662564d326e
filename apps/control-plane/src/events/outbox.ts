import type { DueEvent, EventStore, NewEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import { EventRefused, faultOf } from './event-fault.js';
import type { AfterCommit, EventSubscriber } from './event.subscriber.js';

/** Events in one transaction at most: a larger set costs less per event, but its first event waits for its last. */
export const MAX_SET = 250;

export interface OutboxOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly events: Pick<EventStore, 'append' | 'markNamed' | 'markUndispatched'>;
  /** Called with each event that is marked as dispatched and not handled, after the commit. Must not throw. */
  readonly onRefused: (refused: EventRefused) => void;
}

/**
 * Dispatches events: marks them as dispatched and runs all subscribers in the same transaction, so that each event is
 * dispatched exactly once by any number of processes. An event that no process writes is marked and reported, so that it
 * is neither handled nor found again.
 */
export class Outbox {
  private subscribers: readonly EventSubscriber[] = [];

  constructor(private readonly options: OutboxOptions) {}

  /** Sets the subscribers of all dispatches, once, before the first. They react to a commit in this order. */
  subscribe(subscribers: readonly EventSubscriber[]): void {
    this.subscribers = subscribers;
  }

  /** Dispatches the undispatched events among `ids`. Resolves with their number. */
  dispatchNamed(ids: readonly Uuid[]): Promise<number> {
    return this.dispatch((tx) => this.options.events.markNamed(tx, ids));
  }

  /** Dispatches the oldest undispatched events, at most `MAX_SET`: with so many, more may be waiting. */
  dispatchUndispatched(): Promise<number> {
    return this.dispatch((tx) => this.options.events.markUndispatched(tx, MAX_SET));
  }

  /** Appends and dispatches an event that no other change belongs to, such as a test, in one transaction. */
  async dispatchNew(event: NewEvent): Promise<void> {
    const { database, events } = this.options;
    const reactions = await database.transaction(async (tx) => {
      await events.append(tx, [event]);
      return this.handle(tx, await events.markNamed(tx, [event.id]));
    });
    for (const react of reactions) react();
  }

  private async dispatch(claim: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    const { count, refused, reactions } = await this.options.database.transaction(async (tx) => {
      const events = await claim(tx);
      const { sound, refused } = sorted(events);
      return { count: events.length, refused, reactions: await this.handle(tx, sound) };
    });
    for (const each of refused) this.options.onRefused(each);
    for (const react of reactions) react();
    return count;
  }

  private handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit[]> {
    const subscribers = events.length === 0 ? [] : this.subscribers;
    return Promise.all(subscribers.map((subscriber) => subscriber.handle(tx, events)));
  }
}

function sorted(events: readonly DueEvent[]): { readonly sound: DueEvent[]; readonly refused: EventRefused[] } {
  const sound: DueEvent[] = [];
  const refused: EventRefused[] = [];
  for (const event of events) {
    const fault = faultOf(event);
    if (fault === null) sound.push(event);
    else refused.push(new EventRefused(event.id, fault));
  }
  return { sound, refused };
}
