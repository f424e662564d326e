import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import type { SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { FIND_ENDINGS } from './endings.sql.js';
import type { SessionSubscriptions } from './session-subscriptions.js';
import { ENDING_TYPES } from './rendered-event.js';

/** Sessions in one reading at most. */
const MAX_SET = 500;
/** An end whose event cannot be found after so long will not be told. */
const GIVE_UP_MS = 15 * 60 * 1000;
/**
 * How far the id of an event may lie before the end it tells of: in the first half minute as far as clocks are ever apart
 * that are read again every 10 s, later as far as any id may. There is no index on an event's session, so this is what a
 * search reads.
 */
const NEAR_MS = 5_000;
const NEAR_FOR_MS = 30_000;

interface EndingRow extends Omit<BroadcastEvent, 'at'> {
  readonly occurredAt: Date;
}

export interface MissedEventPollerOptions {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly sessionSubscriptions: SessionSubscriptions;
}

/**
 * Reads pending sessions that somebody listens to again, in sets, and finds the events of those that have ended without a
 * word: the bus is a hint, the rows are the truth.
 */
export class MissedEventPoller {
  /** Of the last count of what is due, those that were not read yet: counting anew for each set would take too long. */
  #due: Uuid[] = [];

  constructor(private readonly o: MissedEventPollerOptions) {}

  /** The ends that were found, and whether more sessions are due. */
  async look(): Promise<{ readonly endings: BroadcastEvent[]; readonly more: boolean }> {
    const { database, clock, sessions, sessionSubscriptions } = this.o;
    const nowMs = clock.nowMs();
    if (this.#due.length === 0) this.#due = sessionSubscriptions.due(nowMs);
    const ids = this.#due.splice(0, MAX_SET);
    if (ids.length === 0) return { endings: [], more: false };
    const found = new Map((await sessions.findMany(database, ids)).map((session) => [session.id, session]));
    const late: Session[] = [];
    for (const id of ids) {
      const session = found.get(id);
      if (session === undefined || isForgotten(session, nowMs)) sessionSubscriptions.settle(id);
      else if (sessionSubscriptions.noteRead(session, nowMs)) late.push(session);
    }
    return { endings: await this.endingsOf(late, nowMs), more: this.#due.length > 0 };
  }

  private async endingsOf(ended: readonly Session[], nowMs: number): Promise<BroadcastEvent[]> {
    if (ended.length === 0) return [];
    const bounds = [firstIdAt(Math.min(...ended.map(soughtFrom(nowMs)))), firstIdAt(nowMs + ID_CLOCK_SLACK_MS)];
    const ids: Uuid[] = ended.map(({ id }) => id);
    const rows = await this.o.database.query<EndingRow>(FIND_ENDINGS, [ids, ENDING_TYPES, ...bounds]);
    return rows.map(({ occurredAt, ...event }) => ({ ...event, at: occurredAt.toISOString() }));
  }
}

const endOf = ({ endedAt }: Session, nowMs: number): number => endedAt?.getTime() ?? nowMs;

/** Lowest time of the id of the event that ended a session. */
const soughtFrom =
  (nowMs: number) =>
  (session: Session): number => {
    const atMs = endOf(session, nowMs);
    return atMs - (nowMs - atMs < NEAR_FOR_MS ? NEAR_MS : ID_CLOCK_SLACK_MS);
  };

const isForgotten = (session: Session, nowMs: number): boolean =>
  session.status !== 'pending' && nowMs - endOf(session, nowMs) > GIVE_UP_MS;
