import type { AddressedNews, CardArrival, CardEvent, CardStore, CardTap } from '@countersign/cards';
import type { Database, Executor, Uuid } from '@countersign/postgres';
import type { SessionStore } from '@countersign/session';

/** What was done with some events. */
export interface Decided {
  readonly news: readonly AddressedNews[];
  /** Event rows that tell of sessions that ended. */
  readonly eventIds: readonly Uuid[];
  readonly arrivals: readonly CardArrival[];
  readonly taps: readonly DecidedTap[];
}

export interface DecidedTap extends CardTap {
  /** False: the session had ended before, so the tap changed nothing. */
  readonly ended: boolean;
}

export interface CardDecisionsOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly cards: Pick<CardStore, 'takeEvents' | 'applyEvents' | 'noteEnded'>;
  readonly sessions: Pick<SessionStore, 'chooseRcs' | 'decide'>;
}

/**
 * What events do, in one transaction: cards are marked and settled, sessions whose card arrived in time become `rcs`, and
 * only then do taps decide, so that whatever is told of a session that a tap ended says its channel right.
 */
export class CardDecisions {
  constructor(private readonly o: CardDecisionsOptions) {}

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
    const { chosen, taps, news, arrivals } = await this.o.cards.applyEvents(tx, events);
    if (chosen.length > 0) await this.o.sessions.chooseRcs(tx, chosen);
    const ended = new Set<Uuid>();
    const eventIds: Uuid[] = [];
    for (const run of runsOfOneVerdict(taps)) {
      const result = await this.endAll(tx, run);
      for (const id of result.ended) ended.add(id);
      eventIds.push(...result.eventIds);
    }
    if (taps.length > 0) await this.o.cards.noteEnded(tx, taps, [...ended]);
    const decided = taps.map((tap) => ({ ...tap, ended: ended.has(tap.cardId) }));
    return { news, eventIds, arrivals, taps: decided };
  }

  private endAll(tx: Executor, taps: readonly CardTap[]): ReturnType<SessionStore['decide']> {
    const ids = taps.map(({ cardId }) => cardId);
    return taps[0]?.verdict === 'approve'
      ? this.o.sessions.decide(tx, { ids, trigger: 'approve', approvedBy: 'rcs' })
      : this.o.sessions.decide(tx, { ids, trigger: 'deny', approvedBy: null });
  }
}

const NOTHING: Decided = { news: [], eventIds: [], arrivals: [], taps: [] };

/** In the order of ids, as rows are locked everywhere; neighbours with one verdict are ended together. */
export function runsOfOneVerdict(taps: readonly CardTap[]): CardTap[][] {
  const runs: CardTap[][] = [];
  for (const tap of [...taps].sort((one, other) => (one.cardId < other.cardId ? -1 : 1))) {
    const run = runs.at(-1);
    if (run?.[0]?.verdict === tap.verdict) run.push(tap);
    else runs.push([tap]);
  }
  return runs;
}
