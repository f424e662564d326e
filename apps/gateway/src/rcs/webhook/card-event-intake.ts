import { isArrivalEvent, type CardEventStore } from '@countersign/rcs/events';
import type { NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher, DatabaseUnavailable } from '@countersign/postgres';
import type { CardDecisions, Decided } from '../dispatch/card-decisions.js';

const MAX_BATCHES_IN_FLIGHT = 2;
const MAX_QUEUED_EVENTS = 4_096;

export interface CardEventIntakeOptions {
  readonly events: Pick<CardEventStore, 'storeEvents'>;
  readonly decisions: Pick<CardDecisions, 'storeEvents'>;
  readonly maxBatch: number;
  /** Called after the commit. Must neither throw nor wait. */
  readonly onDecided: (decided: Decided) => void;
  /** Called when events could not be processed in the transaction that stores them. */
  readonly onError: (error: unknown) => void;
}

/**
 * Stores events of the platform in batches of one transaction each. Arrival events, for which creates wait, are processed in
 * that transaction. When processing fails the events are only stored, to be processed later, because the platform repeats
 * an event only until it is stored.
 */
export class CardEventIntake {
  private readonly batches: Batcher<NewCardEvent, boolean>;

  constructor(private readonly o: CardEventIntakeOptions) {
    this.batches = new Batcher({
      name: 'card.event.intake',
      run: (events) => this.storeBatch(events),
      keysOf: ({ id }) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: MAX_BATCHES_IN_FLIGHT,
      maxQueued: MAX_QUEUED_EVENTS,
    });
  }

  /** Resolves once the event is stored. True when it remains to be processed. */
  storeEvent(event: NewCardEvent): Promise<boolean> {
    return this.batches.add(event);
  }

  private async storeBatch(events: readonly NewCardEvent[]): Promise<boolean[]> {
    const unprocessed = new Set(await this.storeAndProcess(events));
    return events.map(({ id }) => unprocessed.has(id));
  }

  private async storeAndProcess(events: readonly NewCardEvent[]): Promise<readonly Uuid[]> {
    const { events: store, decisions, onDecided, onError } = this.o;
    if (!events.some(isArrivalEvent)) return store.storeEvents(events);
    try {
      const { unprocessed, decided } = await decisions.storeEvents(events);
      onDecided(decided);
      return unprocessed;
    } catch (error) {
      // Without a database connection nothing can be stored; after a refused statement a plain insert may succeed.
      if (error instanceof DatabaseUnavailable && !error.connectionLives) throw error;
      onError(error);
      return store.storeEvents(events);
    }
  }
}
