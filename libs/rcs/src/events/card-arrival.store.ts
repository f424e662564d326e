import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import { statement, together, type Statements } from '@countersign/postgres/statements';
import type { CardEvent, NewCardEvent } from '../rules/card-event.js';
import { cardUpdates, insertRow, judgeCard, resultsOf, type AppliedEvents, type Judged } from './card-event.store.js';
import { INSERT_EVENTS, LOCK_BY_MESSAGE, type LockedRow } from './card-event.sql.js';
import type { CardAnswers } from '../rules/card-answers.js';

/** The longest life of a session: no create waits for an older card. Events of older cards are processed later. */
const LONGEST_CARD_MS = 300_000;

/** New events, and the decisions on those of them that can be applied in the transaction that stores them. */
export interface PreparedArrivals extends Pick<AppliedEvents, 'rcsDelivered' | 'cardOutcomes' | 'arrivals'> {
  readonly events: readonly NewCardEvent[];
  readonly judged: readonly Judged[];
}

/** Whether the event only reports that one of our cards has reached its phone. */
export const isArrivalEvent = ({ kind, messageId }: Pick<NewCardEvent, 'kind' | 'messageId'>): boolean =>
  (kind === 'delivered' || kind === 'read') && messageId !== null;

/**
 * Applies arrival events, for which creates wait, in the transaction that stores them. Only unlocked cards are changed in
 * it; all other events are only stored, and processed afterwards.
 */
export class CardArrivalStore {
  constructor(
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly answers: Pick<CardAnswers, 'verdictOf'>,
  ) {}

  /**
   * Locks the cards of these messages, skipping those that are locked, and decides how they change. The caller passes
   * `rcsDelivered` to the sessions and the result to `storeArrivals`, in the same transaction.
   */
  async prepareArrivals(tx: Executor, events: readonly NewCardEvent[]): Promise<PreparedArrivals> {
    const byMessage = new Map<Uuid, CardEvent[]>();
    for (const event of events) {
      const { messageId } = event;
      if (messageId === null || !isArrivalEvent(event)) continue;
      const applied = { ...event, launchState: event.launchState ?? null };
      byMessage.set(messageId, [...(byMessage.get(messageId) ?? []), applied]);
    }
    const cards = await this.lockCards(tx, [...byMessage.keys()]);
    const judged = cards.map((card) => judgeCard(card, byMessage.get(card.messageId) ?? [], this.answers));
    return { ...resultsOf(judged), events, judged };
  }

  /** Stores all these events and the decisions. Its value is the ids of new events that remain to be processed. */
  storeArrivals({ events, judged }: PreparedArrivals): Statements<Uuid[]> {
    const outcomes = new Map(judged.flatMap(({ judgement }) => [...judgement.outcomes]));
    const rows = events.map((event) => insertRow(event, outcomes.get(event.id)));
    const inserted = statement(INSERT_EVENTS, [JSON.stringify(rows)], (stored: readonly { readonly id: Uuid }[]) =>
      stored.flatMap(({ id }) => (outcomes.has(id) ? [] : [id])),
    );
    return together(inserted, cardUpdates(judged), (unprocessed) => unprocessed);
  }

  private async lockCards(tx: Executor, messageIds: readonly Uuid[]): Promise<LockedByMessage[]> {
    if (messageIds.length === 0) return [];
    const nowMs = this.clock.nowMs();
    const low = firstIdAt(nowMs - LONGEST_CARD_MS - ID_CLOCK_SLACK_MS);
    const firstFuture = firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
    return tx.query<LockedByMessage>(LOCK_BY_MESSAGE, [messageIds, low, firstFuture]);
  }
}

type LockedByMessage = LockedRow & { readonly messageId: Uuid };
