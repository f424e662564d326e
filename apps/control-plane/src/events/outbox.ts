import { type DueEvent, EventStore, type NewEvent } from '@countersign/events';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { Database, isCausedByRows, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { EventRefused, faultOf } from './event-fault.js';
import { EventRefusals } from './event-refusals.js';
import { EVENT_SUBSCRIBERS, type AfterCommit, type EventSubscriber } from './event.subscriber.js';

/** Events in one transaction at most: a larger set costs less per event, but its first event waits for its last. */
export const MAX_SET = 250;

/**
 * Dispatches events: marks them as dispatched and runs all subscribers in the same transaction, so that each event is
 * dispatched exactly once by any number of processes. An event that no process writes is marked and reported, so that it
 * is neither handled nor found again; so is one whose dispatch fails for its rows alone, since it would hold up all others.
 */
@Injectable()
export class Outbox {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    @Inject(EventStore) private readonly events: Pick<EventStore, 'append' | 'markNamed' | 'markUndispatched'>,
    /** They react to a commit in this order. */
    @Inject(EVENT_SUBSCRIBERS) private readonly subscribers: readonly EventSubscriber[],
    /** Gets each event that is marked as dispatched and not handled, after the commit. */
    @Inject(EventRefusals) private readonly refusals: Pick<EventRefusals, 'onRefused'>,
  ) {}

  /** Dispatches the undispatched events among `ids`. Resolves with their number. */
  dispatchNamed(ids: readonly Uuid[]): Promise<number> {
    return this.dispatch((tx) => this.events.markNamed(tx, ids));
  }

  /** Dispatches the oldest undispatched events from an id on, at most `MAX_SET`: with so many, more may be waiting. */
  dispatchUndispatched(fromId: Uuid = firstIdAt(0)): Promise<number> {
    return this.dispatch((tx) => this.events.markUndispatched(tx, MAX_SET, fromId));
  }

  /** Appends and dispatches an event that no other change belongs to, such as a test, in one transaction. */
  async dispatchNew(event: NewEvent): Promise<void> {
    const { database, events } = this;
    const reactions = await database.transaction(async (tx) => {
      await events.append(tx, [event]);
      return this.handle(tx, await events.markNamed(tx, [event.id]));
    });
    for (const react of reactions) react();
  }

  private async dispatch(claim: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    let ids: readonly Uuid[] = [];
    try {
      return await this.dispatchSet(async (tx) => {
        const events = await claim(tx);
        ids = events.map(({ id }) => id);
        return events;
      });
    } catch (error) {
      if (ids.length === 0 || !isCausedByRows(error)) throw error;
      return this.dispatchHalves(ids, error);
    }
  }

  /** Dispatches a set that failed in two, so that every other event is dispatched and the one that fails is found. */
  private async dispatchHalves(ids: readonly Uuid[], cause: unknown): Promise<number> {
    const [id] = ids;
    if (id === undefined || ids.length === 1) return id === undefined ? 0 : this.refuse(id, cause);
    const half = Math.ceil(ids.length / 2);
    return (await this.dispatchNamed(ids.slice(0, half))) + (await this.dispatchNamed(ids.slice(half)));
  }

  /** Marks an event as dispatched without its subscribers. */
  private async refuse(id: Uuid, cause: unknown): Promise<number> {
    const marked = await this.database.transaction((tx) => this.events.markNamed(tx, [id]));
    for (const event of marked) this.refusals.onRefused(new EventRefused(event.id, 'failed', { cause }));
    return marked.length;
  }

  private async dispatchSet(claim: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    const { count, refused, reactions } = await this.database.transaction(async (tx) => {
      const events = await claim(tx);
      const { sound, refused } = separateRefused(events);
      return { count: events.length, refused, reactions: await this.handle(tx, sound) };
    });
    for (const each of refused) this.refusals.onRefused(each);
    for (const react of reactions) react();
    return count;
  }

  private handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit[]> {
    const subscribers = events.length === 0 ? [] : this.subscribers;
    return Promise.all(subscribers.map((subscriber) => subscriber.handle(tx, events)));
  }
}

function separateRefused(events: readonly DueEvent[]): {
  readonly sound: DueEvent[];
  readonly refused: EventRefused[];
} {
  const sound: DueEvent[] = [];
  const refused: EventRefused[] = [];
  for (const event of events) {
    const fault = faultOf(event);
    if (fault === null) sound.push(event);
    else refused.push(new EventRefused(event.id, fault));
  }
  return { sound, refused };
}
