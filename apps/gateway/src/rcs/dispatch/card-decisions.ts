import { Inject, Injectable } from '@nestjs/common';
import { CardArrivalStore, CardEventStore } from '@countersign/rcs/events';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import type { CardArrival, CardEvent, CardTap, NewCardEvent, Verdict } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { runStatements, together } from '@countersign/postgres/statements';
import { SessionStore } from '@countersign/session';

/** The results of processed events. */
export interface Decided {
  readonly cardOutcomes: readonly AddressedCardOutcome[];
  /** Event rows of the sessions that ended. */
  readonly eventIds: readonly Uuid[];
  readonly arrivals: readonly CardArrival[];
  readonly taps: readonly DecidedTap[];
}

/** The results of stored events. */
export interface StoredEvents {
  /** New events that remain to be processed. */
  readonly unprocessed: readonly Uuid[];
  readonly decided: Decided;
}

export interface DecidedTap extends CardTap {
  /** False: the session had ended before, so the tap changed nothing. */
  readonly ended: boolean;
}

/**
 * Processes events in one transaction: cards are updated and settled, then sessions with a delivered card become `rcs`, and
 * only then taps end sessions, so that the events of a session ended by a tap have the right channel.
 */
@Injectable()
export class CardDecisions {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction' | 'readThenWrite'>,
    @Inject(CardEventStore)
    private readonly events: Pick<
      CardEventStore,
      'claimEvents' | 'claimOldestEvents' | 'applyEvents' | 'refuseEvent' | 'recordTapResults'
    >,
    @Inject(CardArrivalStore) private readonly arrivals: Pick<CardArrivalStore, 'prepareArrivals' | 'storeArrivals'>,
    @Inject(SessionStore) private readonly sessions: Pick<SessionStore, 'markRcsDelivered' | 'applyCardDecision'>,
  ) {}

  /** Stores events, and processes those that only report an arrival. */
  storeEvents(events: readonly NewCardEvent[]): Promise<StoredEvents> {
    const { database, arrivals: store, sessions } = this;
    return database.readThenWrite(
      (tx) => store.prepareArrivals(tx, events),
      (prepared) => {
        const { rcsDelivered, cardOutcomes, arrivals } = prepared;
        const decided = { ...NOTHING, cardOutcomes, arrivals };
        return together(
          store.storeArrivals(prepared),
          sessions.markRcsDelivered(rcsDelivered),
          (unprocessed): StoredEvents => ({ unprocessed, decided }),
        );
      },
    );
  }

  /** Processes those of these events that are unprocessed and not locked by another transaction. */
  processEvents(ids: readonly Uuid[]): Promise<Decided> {
    return this.database.transaction(async (tx) => {
      const events = await this.events.claimEvents(tx, ids);
      return events.length === 0 ? NOTHING : this.apply(tx, events);
    });
  }

  /** Marks an event as processed that cannot be applied, so that no poll finds it again. */
  async refuseEvent(id: Uuid): Promise<void> {
    await this.database.transaction((tx) => this.events.refuseEvent(tx, id));
  }

  /** The oldest unprocessed events. */
  async findUnprocessed(limit: number): Promise<Uuid[]> {
    const events = await this.database.transaction((tx) => this.events.claimOldestEvents(tx, limit));
    return events.map(({ id }) => id);
  }

  private async apply(tx: Executor, events: readonly CardEvent[]): Promise<Decided> {
    const { sessions, events: store } = this;
    const { rcsDelivered, taps, cardOutcomes, arrivals } = await store.applyEvents(tx, events);
    const idsOf = (verdict: Verdict): Uuid[] =>
      taps.filter((tap) => tap.verdict === verdict).map(({ cardId }) => cardId);
    const [approved, denied] = [idsOf('approve'), idsOf('deny')];
    await runStatements(tx, sessions.markRcsDelivered(rcsDelivered, [...approved, ...denied]));
    const results = [
      await sessions.applyCardDecision(tx, { mode: 'live', ids: approved, trigger: 'approve', approvedBy: 'rcs' }),
      await sessions.applyCardDecision(tx, { mode: 'live', ids: denied, trigger: 'deny', approvedBy: null }),
    ];
    const ended = results.flatMap((result) => result.ended);
    if (taps.length > 0) await store.recordTapResults(tx, taps, ended);
    const endedIds = new Set(ended);
    const decided = taps.map((tap) => ({ ...tap, ended: endedIds.has(tap.cardId) }));
    return { cardOutcomes, eventIds: results.flatMap(({ eventIds }) => eventIds), arrivals, taps: decided };
  }
}

const NOTHING: Decided = { cardOutcomes: [], eventIds: [], arrivals: [], taps: [] };
