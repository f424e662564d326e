import type { CardStore } from '@countersign/rcs';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import type { CardArrival, CardEvent, CardTap, NewCardEvent, Verdict } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import type { SessionStore } from '@countersign/session';

/** What was done with some events. */
export interface Decided {
  readonly news: readonly AddressedCardOutcome[];
  /** Event rows that tell of sessions that ended. */
  readonly eventIds: readonly Uuid[];
  readonly arrivals: readonly CardArrival[];
  readonly taps: readonly DecidedTap[];
}

/** What was done with events where they were stored. */
export interface Stored {
  /** Those that are new and still to be acted on. */
  readonly waiting: readonly Uuid[];
  readonly decided: Decided;
}

export interface DecidedTap extends CardTap {
  /** False: the session had ended before, so the tap changed nothing. */
  readonly ended: boolean;
}

export interface CardDecisionsOptions {
  readonly database: Pick<Database, 'transaction' | 'readThenWrite'>;
  readonly cards: Pick<CardStore, 'judgeArrivals' | 'storeArrivals' | 'takeEvents' | 'applyEvents' | 'noteEnded'>;
  readonly sessions: Pick<SessionStore, 'markRcsDelivered' | 'applyCardDecision'>;
}

/**
 * What events do, in one transaction: cards are marked and settled, sessions whose card arrived in time become `rcs`, and
 * only then do taps decide, so that whatever is told of a session that a tap ended says its channel right.
 */
export class CardDecisions {
  constructor(private readonly o: CardDecisionsOptions) {}

  /** Stores events, with what those do that say no more than that a card has arrived. */
  store(events: readonly NewCardEvent[]): Promise<Stored> {
    const { database, cards, sessions } = this.o;
    return database.readThenWrite(
      (tx) => cards.judgeArrivals(tx, events),
      async (tx, judged) => {
        const { chosen, news, arrivals } = judged;
        // Asked for at once and done in this order.
        const [waiting] = await Promise.all([cards.storeArrivals(tx, judged), sessions.markRcsDelivered(tx, chosen)]);
        return { waiting, decided: { ...NOTHING, news, arrivals } };
      },
    );
  }

  /** Those of these events that nobody has acted on, and nobody acts on at this moment. */
  decide(ids: readonly Uuid[]): Promise<Decided> {
    return this.o.database.transaction(async (tx) => {
      const events = await this.o.cards.takeEvents(tx, ids);
      return events.length === 0 ? NOTHING : this.apply(tx, events);
    });
  }

  /** The oldest events that wait to be acted on. */
  async find(limit: number): Promise<Uuid[]> {
    const events = await this.o.database.transaction((tx) => this.o.cards.takeEvents(tx, { limit }));
    return events.map(({ id }) => id);
  }

  private async apply(tx: Executor, events: readonly CardEvent[]): Promise<Decided> {
    const { sessions, cards } = this.o;
    const { chosen, taps, news, arrivals } = await cards.applyEvents(tx, events);
    const idsOf = (verdict: Verdict): Uuid[] =>
      taps.filter((tap) => tap.verdict === verdict).map(({ cardId }) => cardId);
    const [approved, denied] = [idsOf('approve'), idsOf('deny')];
    await sessions.markRcsDelivered(tx, chosen, [...approved, ...denied]);
    const results = [
      await sessions.applyCardDecision(tx, { mode: 'live', ids: approved, trigger: 'approve', approvedBy: 'rcs' }),
      await sessions.applyCardDecision(tx, { mode: 'live', ids: denied, trigger: 'deny', approvedBy: null }),
    ];
    const ended = results.flatMap((result) => result.ended);
    if (taps.length > 0) await cards.noteEnded(tx, taps, ended);
    const all = new Set(ended);
    const decided = taps.map((tap) => ({ ...tap, ended: all.has(tap.cardId) }));
    return { news, eventIds: results.flatMap(({ eventIds }) => eventIds), arrivals, taps: decided };
  }
}

const NOTHING: Decided = { news: [], eventIds: [], arrivals: [], taps: [] };
