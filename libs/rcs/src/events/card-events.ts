import { firstIdAt, ID_CLOCK_SLACK_MS, idBounds, idTimeMs, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock, Executor } from '@countersign/postgres';
import {
  FURTHEST_AHEAD_MS,
  type CardArrival,
  type CardEvent,
  type CardTap,
  type NewCardEvent,
} from '../rules/card-event.js';
import {
  CHANGE_CARDS,
  FIND_BY_MESSAGE,
  INSERT_EVENTS,
  LOCK_FOR_EVENTS,
  MARK_HANDLED,
  NOTE_AGENTS,
  NOTE_DENIALS,
  NOTE_TAPS,
  PREFER_CARDS,
  PREFER_SMS,
  TAKE_EVENTS,
  TAKE_OLDEST_EVENTS,
  type EventRow,
  type LockedRow,
} from './card-events.sql.js';
import type { AddressedCardOutcome } from '../offers/card-sends.js';
import { plainAgentId } from '../rules/agent-id.js';
import { decodeChoice, encodeChoice } from '../rules/card-answers.js';
import { judgeCardEvents, type CardJudgement, type EventOutcome, type VerdictOf } from '../rules/judge-events.js';

/** No card is of any interest for longer. */
const CARD_MEMORY_MS = 24 * 60 * 60 * 1000;
/** Events may be a day old when they are stored (see `newCardEventId`), and wait for a gateway. */
const EVENT_MEMORY_MS = 2 * 24 * 60 * 60 * 1000;

/** What events came to, for the caller to go on with in the same transaction. */
export interface AppliedEvents {
  /** Sessions whose channel is RCS from now on: `SessionStore.markRcsDelivered` with them before anything else. */
  readonly chosen: readonly Uuid[];
  /** What the taps ask for: `SessionStore.decide`, then `noteEnded`. At most one of a card. */
  readonly taps: readonly CardTap[];
  /** To be published once the transaction is committed. */
  readonly news: readonly AddressedCardOutcome[];
  readonly arrivals: readonly CardArrival[];
}

export interface CardEventsOptions {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly verdictOf: VerdictOf;
}

/** A card under its lock, and what its events come to. */
export interface Judged {
  readonly card: LockedRow;
  readonly judgement: CardJudgement;
}

/** What the platform tells: stored before it is answered, then applied to the cards, once. */
export class CardEvents {
  constructor(private readonly options: CardEventsOptions) {}

  async store(events: readonly NewCardEvent[]): Promise<Uuid[]> {
    const rows = events.map((event) => insertRow(event));
    const stored = await this.options.database.query<{ id: Uuid }>(INSERT_EVENTS, [JSON.stringify(rows)]);
    const isNew = new Set(stored.map(({ id }) => id));
    return [...new Set(events.map(({ id }) => id))].filter((id) => isNew.has(id));
  }

  async take(tx: Executor, ids: readonly Uuid[]): Promise<CardEvent[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return (await tx.query<EventRow>(TAKE_EVENTS, [ids, low, high])).map(eventOf);
  }

  async takeOldest(tx: Executor, limit: number): Promise<CardEvent[]> {
    const nowMs = this.options.clock.nowMs();
    const low = firstIdAt(nowMs - EVENT_MEMORY_MS);
    const firstFuture = firstIdAt(nowMs + FURTHEST_AHEAD_MS + ID_CLOCK_SLACK_MS);
    return (await tx.query<EventRow>(TAKE_OLDEST_EVENTS, [low, firstFuture, limit])).map(eventOf);
  }

  async apply(tx: Executor, events: readonly CardEvent[]): Promise<AppliedEvents> {
    if (events.length === 0) return { chosen: [], taps: [], news: [], arrivals: [] };
    const byCard = await this.byCard(tx, events);
    const cards = await lockAll(tx, [...byCard.keys()]);
    const judged = cards.map((card) => judge(card, byCard.get(card.id) ?? [], this.options.verdictOf));
    await noteRecipients(tx, events);
    await noteAgents(tx, events);
    await Promise.all([changeAll(tx, judged), markAll(tx, events, judged)]);
    return { ...cameOf(judged), taps: judged.flatMap(({ judgement: { tap } }) => (tap === null ? [] : [tap])) };
  }

  async noteEnded(tx: Executor, taps: readonly CardTap[], ended: readonly Uuid[]): Promise<void> {
    const all = new Set(ended);
    const late = taps.filter(({ cardId }) => !all.has(cardId));
    const counted = taps.filter(({ cardId }) => all.has(cardId));
    await noteTaps(tx, counted);
    const denied = counted.filter(({ verdict }) => verdict === 'deny');
    if (denied.length > 0) await tx.query(NOTE_DENIALS, [denied.map(({ phone }) => phone)]);
    await mark(tx, [
      ...counted.map(({ eventId, verdict }) => [eventId, verdict === 'deny' ? 'denied' : 'approved'] as const),
      ...late.map(({ eventId }) => [eventId, 'late'] as const),
    ]);
  }

  /** Events that are about a card of the last day, by the card. */
  private async byCard(tx: Executor, events: readonly CardEvent[]): Promise<ReadonlyMap<Uuid, CardEvent[]>> {
    const nowMs = this.options.clock.nowMs();
    const messageIds = [...new Set(events.flatMap(({ messageId }) => (messageId === null ? [] : [messageId])))];
    const named = await this.cardsOf(tx, messageIds, nowMs);
    const byCard = new Map<Uuid, CardEvent[]>();
    for (const event of events) {
      const id = event.cardId ?? (event.messageId === null ? undefined : named.get(event.messageId));
      if (id === undefined || Math.abs(nowMs - idTimeMs(id)) > CARD_MEMORY_MS) continue;
      byCard.set(id, [...(byCard.get(id) ?? []), event]);
    }
    return byCard;
  }

  private async cardsOf(tx: Executor, messageIds: readonly Uuid[], nowMs: number): Promise<ReadonlyMap<Uuid, Uuid>> {
    if (messageIds.length === 0) return new Map();
    const low = firstIdAt(nowMs - CARD_MEMORY_MS);
    const high = firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
    const rows = await tx.query<{ id: Uuid; messageId: Uuid }>(FIND_BY_MESSAGE, [messageIds, low, high]);
    return new Map(rows.map(({ id, messageId }) => [messageId, id]));
  }
}

export function judge(card: LockedRow, events: readonly CardEvent[], verdictOf: VerdictOf): Judged {
  const locked = { ...card, expiresAtMs: card.expiresAt.getTime(), nowMs: card.now.getTime() };
  return { card, judgement: judgeCardEvents(locked, events, verdictOf) };
}

/** An event as one element of the insert statement's JSON; with an outcome it is handled. */
export function insertRow(event: NewCardEvent, outcome: EventOutcome | null = null): Readonly<Record<string, unknown>> {
  return {
    id: event.id,
    kind: event.kind,
    agent_id: plainAgentId(event.agentId),
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

async function lockAll(tx: Executor, ids: readonly Uuid[]): Promise<LockedRow[]> {
  if (ids.length === 0) return [];
  const { low, high } = idBounds(ids);
  return tx.query<LockedRow>(LOCK_FOR_EVENTS, [ids, low, high]);
}

export async function changeAll(tx: Executor, judged: readonly Judged[]): Promise<void> {
  const changes = judged.flatMap(({ judgement: { change } }) => (change === null ? [] : [change]));
  if (changes.length === 0) return;
  const ids = changes.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  await tx.query(CHANGE_CARDS, [
    ids,
    changes.map(({ deliveredAt }) => deliveredAt),
    changes.map(({ readAt }) => readAt),
    changes.map(({ settles }) => settles),
    changes.map(({ endsRevoke }) => endsRevoke),
    low,
    high,
  ]);
}

/** The last word of each phone to each agent counts, by when it was said: it may be told late. */
async function noteRecipients(tx: Executor, events: readonly CardEvent[]): Promise<void> {
  const words = events.flatMap(({ agentId, phone, kind, occurredAt }) =>
    phone !== null && (kind === 'subscribed' || kind === 'unsubscribed') ? [{ agentId, phone, kind, occurredAt }] : [],
  );
  const last = lastWords(words, ({ agentId, phone }) => JSON.stringify([agentId, phone]));
  for (const [kind, statement] of [
    ['unsubscribed', PREFER_SMS],
    ['subscribed', PREFER_CARDS],
  ] as const) {
    const rows = last.filter((row) => row.kind === kind);
    if (rows.length === 0) continue;
    const agents = rows.map(({ agentId }) => agentId);
    await tx.query(statement, [agents, rows.map(({ phone }) => phone), rows.map(({ occurredAt }) => occurredAt)]);
  }
}

async function noteAgents(tx: Executor, events: readonly CardEvent[]): Promise<void> {
  const words = events.flatMap(({ kind, agentId, launchState, occurredAt }) =>
    kind === 'agent' && launchState !== null ? [{ agentId, launchState, occurredAt }] : [],
  );
  const rows = lastWords(words, ({ agentId }) => agentId);
  if (rows.length === 0) return;
  await tx.query(NOTE_AGENTS, [
    rows.map(({ agentId }) => agentId),
    rows.map(({ launchState }) => launchState),
    rows.map(({ occurredAt }) => occurredAt),
  ]);
}

/** Of each the one that was said last. */
function lastWords<Word extends { readonly occurredAt: Date }>(
  words: readonly Word[],
  keyOf: (word: Word) => string,
): Word[] {
  const last = new Map<string, Word>();
  for (const word of words) {
    const before = last.get(keyOf(word));
    if (before === undefined || before.occurredAt <= word.occurredAt) last.set(keyOf(word), word);
  }
  return [...last.values()];
}

async function noteTaps(tx: Executor, taps: readonly CardTap[]): Promise<void> {
  if (taps.length === 0) return;
  const ids = taps.map(({ cardId }) => cardId);
  const { low, high } = idBounds(ids);
  const commands = taps.map(({ verdict }) => (verdict === 'deny' ? 'close_denied' : 'close_approved'));
  await tx.query(NOTE_TAPS, [ids, commands, low, high]);
}

/** What each event came to, of a card or of none. */
function markAll(tx: Executor, events: readonly CardEvent[], judged: readonly Judged[]): Promise<void> {
  const ofCards = new Map(judged.flatMap(({ judgement: { outcomes } }) => [...outcomes]));
  return mark(
    tx,
    events.map((event) => [event.id, ofCards.get(event.id) ?? outcomeWithoutCard(event)] as const),
  );
}

function outcomeWithoutCard({ kind }: CardEvent): EventOutcome {
  if (kind === 'subscribed' || kind === 'unsubscribed' || kind === 'agent') return 'noted';
  return kind === 'typing' || kind === 'text' || kind === 'other' ? 'ignored' : 'unknown_card';
}

async function mark(tx: Executor, outcomes: readonly (readonly [id: Uuid, outcome: string])[]): Promise<void> {
  if (outcomes.length === 0) return;
  const ids = outcomes.map(([id]) => id);
  const { low, high } = idBounds(ids);
  await tx.query(MARK_HANDLED, [ids, outcomes.map(([, outcome]) => outcome), low, high]);
}

/** What judged cards come to, for those who are told of it. */
export function cameOf(judged: readonly Judged[]): Omit<AppliedEvents, 'taps'> {
  return {
    chosen: judged.filter(({ judgement: { change } }) => change?.settles === 'rcs').map(({ card }) => card.id),
    news: judged.flatMap(outcomesOf),
    arrivals: judged.flatMap(arrivalOf),
  };
}

function outcomesOf({ card, judgement: { change } }: Judged): AddressedCardOutcome[] {
  const settles = change?.settles ?? null;
  return settles === null ? [] : [{ id: card.id, waiter: card.waiter, news: settles }];
}

function arrivalOf({ card, judgement: { arrived } }: Judged): CardArrival[] {
  if (!arrived) return [];
  const afterMs = card.sentAt === null ? 0 : Math.max(0, card.now.getTime() - card.sentAt.getTime());
  return [{ cardId: card.id, agentId: card.agentId, afterMs }];
}
