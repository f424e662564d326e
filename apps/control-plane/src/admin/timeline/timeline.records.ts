import type { SessionRefusal } from '@countersign/carriers/destinations';
import { DestinationStore } from '@countersign/carriers/destinations';
import { MessageLog, type MessageRecord } from '@countersign/carriers/messages';
import { firstIdAt, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { findCardEvents, type CardEventRecord } from '@countersign/rcs/offers';
import { Injectable } from '@nestjs/common';
import { SessionRecords, type SessionWithCard } from '../sessions/session.records.js';
import { READ_SESSION_EVENTS, type SessionEventRow } from './timeline.sql.js';

/** Messages of a session that are shown, in each direction. */
export const MESSAGES_SHOWN = 100;
export const CARD_EVENTS_SHOWN = 100;
export const EVENTS_SHOWN = 100;
/** The platform may report a tap after the end of a session; one that comes later than this is not shown. */
const CARD_EVENTS_AFTER_MS = 60_000;
const CARD_EVENTS_BEFORE_MS = 1_000;
/** An event is written in the transaction of its change: its id is little later than the change. */
const WRITTEN_BEFORE_MS = 1_000;
const WRITTEN_WITHIN_MS = 5_000;
/** An expiry is written by a sweeper, after `expiresAt`. */
const SWEPT_WITHIN_MS = 60_000;

/** The rows of a session; of each kind one more than is shown if there are more. */
export interface TimelineRecord {
  readonly id: Uuid;
  readonly session: SessionWithCard;
  readonly messages: readonly MessageRecord[];
  readonly cardEvents: readonly CardEventRecord[];
  readonly refusals: readonly SessionRefusal[];
  readonly events: readonly SessionEventRow[];
}

/**
 * Reads all rows of a session in five statements, each with a limit. Events and card events have no index by session: they are
 * found among those of all sessions in the time of this one. Locks nothing.
 */
@Injectable()
export class TimelineRecords {
  readonly #sessions = new SessionRecords();

  constructor(private readonly destinations: DestinationStore) {}

  async find(db: Executor, id: Uuid): Promise<TimelineRecord | null> {
    const session = await this.#sessions.find(db, id);
    if (session === null) return null;
    const [messages, cardEvents, refusals] = await Promise.all([
      MessageLog.ofSession(db, id, MESSAGES_SHOWN + 1),
      session.card === null ? [] : cardEventsOf(db, session),
      this.destinations.refusalsOfSession(db, id),
    ]);
    const spans = spansOf(momentsOf(session, messages));
    const events = await db.query<SessionEventRow>(READ_SESSION_EVENTS, [
      id,
      spans.map(({ fromMs }) => firstIdAt(fromMs)),
      spans.map(({ beforeMs }) => firstIdAt(beforeMs)),
      EVENTS_SHOWN + 1,
    ]);
    return { id, session, messages, cardEvents, refusals, events };
  }
}

const cardEventsOf = (db: Executor, { id, createdAt, expiresAt }: SessionWithCard): Promise<CardEventRecord[]> =>
  findCardEvents(db, {
    id,
    from: new Date(createdAt.getTime() - CARD_EVENTS_BEFORE_MS),
    before: new Date(expiresAt.getTime() + CARD_EVENTS_AFTER_MS),
    limit: CARD_EVENTS_SHOWN + 1,
  });

/** A time in which events of the session may have been written, in milliseconds since 1970. */
interface Span {
  readonly fromMs: number;
  readonly beforeMs: number;
}

function momentsOf(session: SessionWithCard, messages: readonly MessageRecord[]): Span[] {
  const { status, endedAt, senderMismatchAt } = session;
  const ofCodes = messages.flatMap(({ submittedAt, endedAt: ended }) => [submittedAt, ended]);
  const moments = [senderMismatchAt, ...ofCodes].flatMap((at) => (at === null ? [] : [spanAt(at, WRITTEN_WITHIN_MS)]));
  const end = endedAt === null ? [] : [spanAt(endedAt, status === 'expired' ? SWEPT_WITHIN_MS : WRITTEN_WITHIN_MS)];
  return [...moments, ...end];
}

const spanAt = (at: Date, withinMs: number): Span => ({
  fromMs: Math.max(0, at.getTime() - WRITTEN_BEFORE_MS),
  beforeMs: Math.max(0, at.getTime() + withinMs),
});

/** The spans without overlaps, in order. */
export function spansOf(moments: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of moments.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = merged.at(-1);
    if (last === undefined || span.fromMs >= last.beforeMs) merged.push(span);
    else merged[merged.length - 1] = { ...last, beforeMs: Math.max(last.beforeMs, span.beforeMs) };
  }
  return merged;
}
