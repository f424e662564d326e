import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import type { CardEvent, NewCardEvent } from '../rules/card-event.js';
import { cameOf, changeAll, insertRow, judge, type AppliedEvents, type Judged } from './card-events.js';
import { INSERT_EVENTS, LOCK_BY_MESSAGE, type LockedRow } from './card-events.sql.js';
import { plainAgentId } from '../rules/agent-id.js';
import type { VerdictOf } from '../rules/judge-events.js';

/** Nobody waits for a card that is older: no session lives longer. What is told of one is acted on later. */
const LONGEST_CARD_MS = 300_000;

/** New events with what those of them come to that can be acted on where they are stored. */
export interface JudgedArrivals extends Pick<AppliedEvents, 'chosen' | 'news' | 'arrivals'> {
  readonly events: readonly NewCardEvent[];
  readonly judged: readonly Judged[];
}

/** Whether it says no more than that a card of ours has reached its phone. */
export const saysArrived = ({ kind, messageId }: Pick<NewCardEvent, 'kind' | 'messageId'>): boolean =>
  (kind === 'delivered' || kind === 'read') && messageId !== null;

/**
 * Events that say that a card has arrived, which a request waits to hear, are acted on where they are stored: one
 * transaction holds the event and what it does. Only what is at hand is touched so; whatever else is stored, to be acted
 * on after that.
 */
export class CardArrivals {
  constructor(
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly verdictOf: VerdictOf,
  ) {}

  /** Locks the cards of these messages, but none that another holds, and says what is to be written of them. */
  async judge(tx: Executor, events: readonly NewCardEvent[]): Promise<JudgedArrivals> {
    const byMessage = new Map<Uuid, CardEvent[]>();
    for (const event of events) {
      const { messageId } = event;
      if (messageId === null || !saysArrived(event)) continue;
      const taken = { ...event, agentId: plainAgentId(event.agentId), launchState: event.launchState ?? null };
      byMessage.set(messageId, [...(byMessage.get(messageId) ?? []), taken]);
    }
    const cards = await this.lock(tx, [...byMessage.keys()]);
    const judged = cards.map((card) => judge(card, byMessage.get(card.messageId) ?? [], this.verdictOf));
    return { ...cameOf(judged), events, judged };
  }

  /** Stores all of them, and what was judged, in the same transaction. Answers the new ones that are still to be acted on. */
  async store(tx: Executor, { events, judged }: JudgedArrivals): Promise<Uuid[]> {
    const outcomes = new Map(judged.flatMap(({ judgement }) => [...judgement.outcomes]));
    const rows = events.map((event) => insertRow(event, outcomes.get(event.id)));
    const [stored] = await Promise.all([
      tx.query<{ id: Uuid }>(INSERT_EVENTS, [JSON.stringify(rows)]),
      changeAll(tx, judged),
    ]);
    return stored.flatMap(({ id }) => (outcomes.has(id) ? [] : [id]));
  }

  private async lock(tx: Executor, messageIds: readonly Uuid[]): Promise<LockedByMessage[]> {
    if (messageIds.length === 0) return [];
    const nowMs = this.clock.nowMs();
    const low = firstIdAt(nowMs - LONGEST_CARD_MS - ID_CLOCK_SLACK_MS);
    const firstFuture = firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
    return tx.query<LockedByMessage>(LOCK_BY_MESSAGE, [messageIds, low, firstFuture]);
  }
}

type LockedByMessage = LockedRow & { readonly messageId: Uuid };
