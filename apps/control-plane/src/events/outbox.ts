import type { DueEvent, EventStore, NewEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import type { EventSubscriber } from './event.subscriber.js';

/** Events in one transaction at most: a larger set costs less per event, but its first event waits for its last. */
export const MAX_SET = 250;

export interface OutboxOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly events: Pick<EventStore, 'append' | 'markNamed' | 'markUndispatched'>;
}

/**
 * Dispatches events: marks them as dispatched and runs all subscribers in the same transaction, so that each event is
 * dispatched exactly once by any number of processes.
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
    await this.dispatch(async (tx) => {
      await this.options.events.append(tx, [event]);
      return this.options.events.markNamed(tx, [event.id]);
    });
  }

  private async dispatch(claim: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    const { count, reactions } = await this.options.database.transaction(async (tx) => {
      const events = await claim(tx);
      const subscribers = events.length === 0 ? [] : this.subscribers;
      const handled = await Promise.all(subscribers.map((subscriber) => subscriber.handle(tx, events)));
      return { count: events.length, reactions: handled };
    });
    for (const react of reactions) react();
    return count;
  }
}
