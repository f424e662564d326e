import { type DueEvent, EventStore, type NewEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { EVENT_SUBSCRIBERS, type EventSubscriber } from './event.subscriber.js';

/** Events in one transaction at most: a larger set costs less per event, but its first event waits for its last. */
export const MAX_SET = 250;

/**
 * Dispatches events: marks them as dispatched and runs all subscribers in the same transaction, so that each event is
 * dispatched exactly once by any number of processes.
 */
@Injectable()
export class Outbox {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    @Inject(EventStore) private readonly events: Pick<EventStore, 'append' | 'markNamed' | 'markUndispatched'>,
    /** They react to a commit in this order. */
    @Inject(EVENT_SUBSCRIBERS) private readonly subscribers: readonly EventSubscriber[],
  ) {}

  /** Dispatches the undispatched events among `ids`. Resolves with their number. */
  dispatchNamed(ids: readonly Uuid[]): Promise<number> {
    return this.dispatch((tx) => this.events.markNamed(tx, ids));
  }

  /** Dispatches the oldest undispatched events, at most `MAX_SET`: with so many, more may be waiting. */
  dispatchUndispatched(): Promise<number> {
    return this.dispatch((tx) => this.events.markUndispatched(tx, MAX_SET));
  }

  /** Appends and dispatches an event that no other change belongs to, such as a test, in one transaction. */
  async dispatchNew(event: NewEvent): Promise<void> {
    await this.dispatch(async (tx) => {
      await this.events.append(tx, [event]);
      return this.events.markNamed(tx, [event.id]);
    });
  }

  private async dispatch(claim: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    const { count, reactions } = await this.database.transaction(async (tx) => {
      const events = await claim(tx);
      const subscribers = events.length === 0 ? [] : this.subscribers;
      const handled = await Promise.all(subscribers.map((subscriber) => subscriber.handle(tx, events)));
      return { count: events.length, reactions: handled };
    });
    for (const react of reactions) react();
    return count;
  }
}
