import type { CardStore } from '@countersign/rcs';
import { saysArrived } from '@countersign/rcs/events';
import type { NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Batcher, DatabaseUnavailable } from '@countersign/postgres';
import type { CardDecisions, Decided } from './card-decisions.js';

const MAX_BATCHES_IN_FLIGHT = 2;
const MAX_QUEUED_EVENTS = 4_096;

export interface CardEventIntakeOptions {
  readonly cards: Pick<CardStore, 'storeEvents'>;
  readonly decisions: Pick<CardDecisions, 'store'>;
  readonly maxBatch: number;
  /** Told after the commit. Must neither throw nor wait. */
  readonly onDecided: (decided: Decided) => void;
  /** Hears of what kept events from being acted on where they are stored. */
  readonly onError: (error: unknown) => void;
}

/**
 * Stores what the platform tells; those of one moment share a transaction. What a waiting request may hear of is acted on
 * in it. Where that fails events are stored all the same, to be acted on later: only what is not stored is told again.
 */
export class CardEventIntake {
  private readonly batches: Batcher<NewCardEvent, boolean>;

  constructor(private readonly o: CardEventIntakeOptions) {
    this.batches = new Batcher({
      name: 'card.event.intake',
      run: (events) => this.takeAll(events),
      keysOf: ({ id }) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: MAX_BATCHES_IN_FLIGHT,
      maxQueued: MAX_QUEUED_EVENTS,
    });
  }

  /** Settles once the event is stored, and says whether it is still to be acted on. */
  take(event: NewCardEvent): Promise<boolean> {
    return this.batches.add(event);
  }

  private async takeAll(events: readonly NewCardEvent[]): Promise<boolean[]> {
    const waiting = new Set(await this.store(events));
    return events.map(({ id }) => waiting.has(id));
  }

  private async store(events: readonly NewCardEvent[]): Promise<readonly Uuid[]> {
    const { cards, decisions, onDecided, onError } = this.o;
    if (!events.some(saysArrived)) return cards.storeEvents(events);
    try {
      const { waiting, decided } = await decisions.store(events);
      onDecided(decided);
      return waiting;
    } catch (error) {
      // Where the database is away nothing else is to be had of it; where it refused, storing alone may do.
      if (error instanceof DatabaseUnavailable && !error.connectionLives) throw error;
      onError(error);
      return cards.storeEvents(events);
    }
  }
}
