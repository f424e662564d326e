import { EventStore } from '@countersign/events';
import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { SessionSubscriptions } from './session-subscriptions.js';
import { ENDING_TYPES } from './rendered-event.js';

/** Sessions in one read at most. */
const MAX_SET = 500;
/** A terminal event that is not found within this time is given up. */
const GIVE_UP_MS = 15 * 60 * 1000;
/**
 * How far the time in an event's id may precede the end of its session: in the first 30 s the largest difference of
 * clocks that are synchronised every 10 s, later the slack of any id. Events have no index on the session, so this
 * bounds the rows of a search.
 */
const NEAR_MS = 5_000;
const NEAR_FOR_MS = 30_000;

/**
 * Polls subscribed pending sessions, in sets, and finds the terminal events of sessions whose broadcast was lost: the
 * bus is a hint, the rows are authoritative.
 */
@Injectable()
export class MissedEventPoller {
  /** Due sessions that are not read yet; collecting them anew for each set would take too long. */
  #dueSessions: Uuid[] = [];

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly sessions: SessionStore,
    private readonly sessionSubscriptions: SessionSubscriptions,
  ) {}

  /** The terminal events that were found, and whether more sessions are due. */
  async pollSessions(): Promise<{ readonly endings: BroadcastEvent[]; readonly more: boolean }> {
    const { database, clock, sessions, sessionSubscriptions } = this;
    const nowMs = clock.nowMs();
    if (this.#dueSessions.length === 0) this.#dueSessions = sessionSubscriptions.dueSessions(nowMs);
    const ids = this.#dueSessions.splice(0, MAX_SET);
    if (ids.length === 0) return { endings: [], more: false };
    const found = new Map((await sessions.findMany(database, ids)).map((session) => [session.id, session]));
    const late: Session[] = [];
    for (const id of ids) {
      const session = found.get(id);
      if (session === undefined || isForgotten(session, nowMs)) sessionSubscriptions.stopPolling(id);
      else if (sessionSubscriptions.noteRead(session, nowMs)) late.push(session);
    }
    return { endings: await this.endingsOf(late, nowMs), more: this.#dueSessions.length > 0 };
  }

  private async endingsOf(ended: readonly Session[], nowMs: number): Promise<BroadcastEvent[]> {
    if (ended.length === 0) return [];
    const rows = await EventStore.findOfSessions(this.database, {
      sessionIds: ended.map(({ id }) => id),
      types: ENDING_TYPES,
      low: firstIdAt(Math.min(...ended.map(soughtFrom(nowMs)))),
      high: firstIdAt(nowMs + ID_CLOCK_SLACK_MS),
    });
    return rows.map(({ occurredAt, ...event }) => ({ ...event, at: occurredAt.toISOString() }));
  }
}

const endOf = ({ endedAt }: Session, nowMs: number): number => endedAt?.getTime() ?? nowMs;

/** Lowest time in the id of the event that ended a session. */
const soughtFrom =
  (nowMs: number) =>
  (session: Session): number => {
    const atMs = endOf(session, nowMs);
    return atMs - (nowMs - atMs < NEAR_FOR_MS ? NEAR_MS : ID_CLOCK_SLACK_MS);
  };

const isForgotten = (session: Session, nowMs: number): boolean =>
  session.status !== 'pending' && nowMs - endOf(session, nowMs) > GIVE_UP_MS;
