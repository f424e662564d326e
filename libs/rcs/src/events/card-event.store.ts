import { firstIdAt, ID_CLOCK_SLACK_MS, idBounds, idTimeMs, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock, Executor } from '@countersign/postgres';
import { noStatement, runStatements, statement, type Statements } from '@countersign/postgres/statements';
import {
  FURTHEST_AHEAD_MS,
  type CardArrival,
  type CardEvent,
  type CardTap,
  type NewCardEvent,
} from '../rules/card-event.js';
import {
  CLAIM_EVENTS,
  CLAIM_OLDEST_EVENTS,
  FIND_BY_MESSAGE,
  INSERT_EVENTS,
  LOCK_FOR_EVENTS,
  MARK_PROCESSED,
  PREFER_CARDS,
  PREFER_SMS,
  RECORD_DENIALS,
  RECORD_LAUNCH_STATES,
  RECORD_TAPS,
  UPDATE_CARDS,
  type EventRow,
  type LockedRow,
} from './card-event.sql.js';
import type { AddressedCardOutcome } from '../offers/card-send.store.js';
import { decodeChoice, encodeChoice, type CardAnswers } from '../rules/card-answers.js';
import { judgeCardEvents, type CardJudgement, type EventOutcome, type VerdictOf } from '../rules/judge-events.js';

/** Events of cards older than this are ignored. */
const CARD_MEMORY_MS = 24 * 60 * 60 * 1000;
/** Events may be a day old when they are stored (see `newCardEventId`), and wait for a gateway. */
const EVENT_MEMORY_MS = 2 * 24 * 60 * 60 * 1000;

/** The results of events, which the caller processes further in the same transaction. */
export interface AppliedEvents {
  /** Sessions whose channel is `rcs` from now on: `SessionStore.markRcsDelivered` comes before everything else. */
  readonly rcsDelivered: readonly Uuid[];
  /** Taps for `SessionStore.applyCardDecision`, then `recordTapResults`. At most one per card. */
  readonly taps: readonly CardTap[];
  /** To be published once the transaction is committed. */
  readonly cardOutcomes: readonly AddressedCardOutcome[];
  readonly arrivals: readonly CardArrival[];
}

/** A locked card and the decision on its events. */
export interface Judged {
  readonly card: LockedRow;
  readonly judgement: CardJudgement;
}

/**
 * Events of the platform: stored before the webhook is answered, then applied to the cards, once. Locks are taken in the
 * order that `CardOfferStore` documents.
 */
export class CardEventStore {
  constructor(
    private readonly database: Pick<Database, 'query'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly answers: Pick<CardAnswers, 'verdictOf'>,
  ) {}

  /** Stores events. Returns the ids that are new. */
  async storeEvents(events: readonly NewCardEvent[]): Promise<Uuid[]> {
    const rows = events.map((event) => insertRow(event));
    const stored = await this.database.query<{ id: Uuid }>(INSERT_EVENTS, [JSON.stringify(rows)]);
    const isNew = new Set(stored.map(({ id }) => id));
    return [...new Set(events.map(({ id }) => id))].filter((id) => isNew.has(id));
  }

  /** Locks those of these events that are unprocessed and not locked, until the transaction ends. */
  async claimEvents(tx: Executor, ids: readonly Uuid[]): Promise<CardEvent[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return (await tx.query<EventRow>(CLAIM_EVENTS, [ids, low, high])).map(eventOf);
  }

  /** The same for the oldest unprocessed events. */
  async claimOldestEvents(tx: Executor, limit: number): Promise<CardEvent[]> {
    const nowMs = this.clock.nowMs();
    const low = firstIdAt(nowMs - EVENT_MEMORY_MS);
    const firstFuture = firstIdAt(nowMs + FURTHEST_AHEAD_MS + ID_CLOCK_SLACK_MS);
    return (await tx.query<EventRow>(CLAIM_OLDEST_EVENTS, [low, firstFuture, limit])).map(eventOf);
  }

  /** Marks an unprocessed event as processed without applying it. Returns false when it is not unprocessed, or locked. */
  async refuseEvent(tx: Executor, id: Uuid): Promise<boolean> {
    const claimed = await this.claimEvents(tx, [id]);
    await markProcessed(
      tx,
      claimed.map((event) => [event.id, 'refused']),
    );
    return claimed.length > 0;
  }

  /** Applies events that were claimed in the same transaction. */
  async applyEvents(tx: Executor, events: readonly CardEvent[]): Promise<AppliedEvents> {
    if (events.length === 0) return { rcsDelivered: [], taps: [], cardOutcomes: [], arrivals: [] };
    const byCard = await this.groupByCard(tx, events);
    const cards = await lockCards(tx, [...byCard.keys()]);
    const judged = cards.map((card) => judgeCard(card, byCard.get(card.id) ?? [], this.answers));
    await recordSubscriptions(tx, events);
    await recordLaunchStates(tx, events);
    await Promise.all([runStatements(tx, cardUpdates(judged)), markAllProcessed(tx, events, judged)]);
    return { ...resultsOf(judged), taps: judged.flatMap(({ judgement: { tap } }) => (tap === null ? [] : [tap])) };
  }

  /**
   * Records, after `SessionStore.applyCardDecision` in the same transaction, which taps ended their sessions. Those are answered with
   * a closing text, and their denials count against further cards.
   */
  async recordTapResults(tx: Executor, taps: readonly CardTap[], ended: readonly Uuid[]): Promise<void> {
    const endedIds = new Set(ended);
    const late = taps.filter(({ cardId }) => !endedIds.has(cardId));
    const counted = taps.filter(({ cardId }) => endedIds.has(cardId));
    await recordTaps(tx, counted);
    const denied = counted.filter(({ verdict }) => verdict === 'deny');
    if (denied.length > 0) await tx.query(RECORD_DENIALS, [denied.map(({ phone }) => phone)]);
    await markProcessed(tx, [
      ...counted.map(({ eventId, verdict }) => [eventId, verdict === 'deny' ? 'denied' : 'approved'] as const),
      ...late.map(({ eventId }) => [eventId, 'late'] as const),
    ]);
  }

  /** Events of cards of the last day, by card id. */
  private async groupByCard(tx: Executor, events: readonly CardEvent[]): Promise<ReadonlyMap<Uuid, CardEvent[]>> {
    const nowMs = this.clock.nowMs();
    const messageIds = [...new Set(events.flatMap(({ messageId }) => (messageId === null ? [] : [messageId])))];
    const cardOfMessage = await this.findCardsByMessage(tx, messageIds, nowMs);
    const byCard = new Map<Uuid, CardEvent[]>();
    for (const event of events) {
      const id = event.cardId ?? (event.messageId === null ? undefined : cardOfMessage.get(event.messageId));
      if (id === undefined || Math.abs(nowMs - idTimeMs(id)) > CARD_MEMORY_MS) continue;
      byCard.set(id, [...(byCard.get(id) ?? []), event]);
    }
    return byCard;
  }

  private async findCardsByMessage(
    tx: Executor,
    messageIds: readonly Uuid[],
    nowMs: number,
  ): Promise<ReadonlyMap<Uuid, Uuid>> {
    if (messageIds.length === 0) return new Map();
    const low = firstIdAt(nowMs - CARD_MEMORY_MS);
    const high = firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
    const rows = await tx.query<{ id: Uuid; messageId: Uuid }>(FIND_BY_MESSAGE, [messageIds, low, high]);
    return new Map(rows.map(({ id, messageId }) => [messageId, id]));
  }
}

export function judgeCard(
  card: LockedRow,
  events: readonly CardEvent[],
  answers: Pick<CardAnswers, 'verdictOf'>,
): Judged {
  const locked = { ...card, expiresAtMs: card.expiresAt.getTime(), nowMs: card.now.getTime() };
  const verdictOf: VerdictOf = (answered, choice) => answers.verdictOf(answered, choice);
  return { card, judgement: judgeCardEvents(locked, events, verdictOf) };
}

/** An event as one element of the insert statement's JSON; an event with an outcome is processed. */
export function insertRow(event: NewCardEvent, outcome: EventOutcome | null = null): Readonly<Record<string, unknown>> {
  return {
    id: event.id,
    kind: event.kind,
    agent_id: event.agentId,
    phone: event.phone,
    message_id: event.messageId,
    card_id: event.cardId,
    choice: event.choice === null ? null : encodeChoice(event.choice),
    launch_state: event.launchState ?? null,
    occurred_at: event.occurredAt,
    outcome,
  };
}

function eventOf(row: EventRow): CardEvent {
  return { ...row, choice: row.choice === null ? null : decodeChoice(row.choice) };
}

async function lockCards(tx: Executor, ids: readonly Uuid[]): Promise<LockedRow[]> {
  if (ids.length === 0) return [];
  const { low, high } = idBounds(ids);
  return tx.query<LockedRow>(LOCK_FOR_EVENTS, [ids, low, high]);
}

/** Applies the decided changes to the cards. */
export function cardUpdates(judged: readonly Judged[]): Statements<null> {
  const changes = judged.flatMap(({ judgement: { change } }) => (change === null ? [] : [change]));
  if (changes.length === 0) return noStatement(null);
  const ids = changes.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const values = [
    ids,
    changes.map(({ deliveredAt }) => deliveredAt),
    changes.map(({ readAt }) => readAt),
    changes.map(({ settles }) => settles),
    changes.map(({ endsRevoke }) => endsRevoke),
    low,
    high,
  ];
  return statement(UPDATE_CARDS, values, () => null);
}

/** The last subscribe or unsubscribe event of each phone and agent counts, by its own time, since events may come late. */
async function recordSubscriptions(tx: Executor, events: readonly CardEvent[]): Promise<void> {
  const changes = events.flatMap(({ agentId, phone, kind, occurredAt }) =>
    phone !== null && (kind === 'subscribed' || kind === 'unsubscribed') ? [{ agentId, phone, kind, occurredAt }] : [],
  );
  const latest = latestByKey(changes, ({ agentId, phone }) => JSON.stringify([agentId, phone]));
  for (const [kind, statement] of [
    ['unsubscribed', PREFER_SMS],
    ['subscribed', PREFER_CARDS],
  ] as const) {
    const rows = latest.filter((row) => row.kind === kind);
    if (rows.length === 0) continue;
    const agents = rows.map(({ agentId }) => agentId);
    await tx.query(statement, [agents, rows.map(({ phone }) => phone), rows.map(({ occurredAt }) => occurredAt)]);
  }
}

async function recordLaunchStates(tx: Executor, events: readonly CardEvent[]): Promise<void> {
  const changes = events.flatMap(({ kind, agentId, launchState, occurredAt }) =>
    kind === 'agent' && launchState !== null ? [{ agentId, launchState, occurredAt }] : [],
  );
  const rows = latestByKey(changes, ({ agentId }) => agentId);
  if (rows.length === 0) return;
  await tx.query(RECORD_LAUNCH_STATES, [
    rows.map(({ agentId }) => agentId),
    rows.map(({ launchState }) => launchState),
    rows.map(({ occurredAt }) => occurredAt),
  ]);
}

/** The latest change of each key; of equal times the later in the list. */
function latestByKey<Change extends { readonly occurredAt: Date }>(
  changes: readonly Change[],
  keyOf: (change: Change) => string,
): Change[] {
  const latest = new Map<string, Change>();
  for (const change of changes) {
    const known = latest.get(keyOf(change));
    if (known === undefined || known.occurredAt <= change.occurredAt) latest.set(keyOf(change), change);
  }
  return [...latest.values()];
}

async function recordTaps(tx: Executor, taps: readonly CardTap[]): Promise<void> {
  if (taps.length === 0) return;
  const ids = taps.map(({ cardId }) => cardId);
  const { low, high } = idBounds(ids);
  const commands = taps.map(({ verdict }) => (verdict === 'deny' ? 'close_denied' : 'close_approved'));
  await tx.query(RECORD_TAPS, [ids, commands, low, high]);
}

/** Records the outcome of every event, with or without a card. */
function markAllProcessed(tx: Executor, events: readonly CardEvent[], judged: readonly Judged[]): Promise<void> {
  const ofCards = new Map(judged.flatMap(({ judgement: { outcomes } }) => [...outcomes]));
  return markProcessed(
    tx,
    events.map((event) => [event.id, ofCards.get(event.id) ?? outcomeWithoutCard(event)] as const),
  );
}

function outcomeWithoutCard({ kind }: CardEvent): EventOutcome {
  if (kind === 'subscribed' || kind === 'unsubscribed' || kind === 'agent') return 'noted';
  return kind === 'typing' || kind === 'text' || kind === 'other' ? 'ignored' : 'unknown_card';
}

async function markProcessed(tx: Executor, outcomes: readonly (readonly [id: Uuid, outcome: string])[]): Promise<void> {
  if (outcomes.length === 0) return;
  const ids = outcomes.map(([id]) => id);
  const { low, high } = idBounds(ids);
  await tx.query(MARK_PROCESSED, [ids, outcomes.map(([, outcome]) => outcome), low, high]);
}

/** The results of judged cards, for the sessions and the waiting creates. */
export function resultsOf(judged: readonly Judged[]): Omit<AppliedEvents, 'taps'> {
  return {
    rcsDelivered: judged.filter(({ judgement: { change } }) => change?.settles === 'rcs').map(({ card }) => card.id),
    cardOutcomes: judged.flatMap(outcomesOf),
    arrivals: judged.flatMap(arrivalOf),
  };
}

function outcomesOf({ card, judgement: { change } }: Judged): AddressedCardOutcome[] {
  const settles = change?.settles ?? null;
  return settles === null ? [] : [{ id: card.id, originProcess: card.originProcess, news: settles }];
}

function arrivalOf({ card, judgement: { arrived } }: Judged): CardArrival[] {
  if (!arrived) return [];
  const afterMs = card.sentAt === null ? 0 : Math.max(0, card.now.getTime() - card.sentAt.getTime());
  return [{ cardId: card.id, agentId: card.agentId, afterMs }];
}
