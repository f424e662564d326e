import { type DatabaseClock, type Executor, firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/postgres';
import type { Session, SessionStore } from '@countersign/session';
import type { ToldEvent } from '../events-told.js';
import { FIND_ENDINGS } from './endings.sql.js';
import type { SessionRooms } from './session-rooms.js';
import { ENDING_TYPES } from './tidings.js';

/** Sessions in one reading at most. */
const MAX_SET = 500;
/** An end whose event cannot be found after so long will not be told. */
const GIVE_UP_MS = 15 * 60 * 1000;

interface EndingRow extends Omit<ToldEvent, 'at'> {
  readonly occurredAt: Date;
}

export interface PendingLookOptions {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly rooms: SessionRooms;
}

/**
 * Reads pending sessions that somebody listens to again, in sets, and finds the events of those that have ended without a
 * word: the bus is a hint, the rows are the truth.
 */
export class PendingLook {
  constructor(private readonly o: PendingLookOptions) {}

  /** The ends that were found, and whether more sessions are due. */
  async look(): Promise<{ readonly endings: ToldEvent[]; readonly more: boolean }> {
    const { database, clock, sessions, rooms } = this.o;
    const nowMs = clock.nowMs();
    const ids = rooms.due(nowMs, MAX_SET);
    if (ids.length === 0) return { endings: [], more: false };
    const found = new Map((await sessions.findMany(database, ids)).map((session) => [session.id, session]));
    const ended: Session[] = [];
    for (const id of ids) {
      const session = found.get(id);
      if (session === undefined || isForgotten(session, nowMs)) rooms.settle(id);
      else {
        rooms.noteRead(session, nowMs);
        if (session.status !== 'pending') ended.push(session);
      }
    }
    return { endings: await this.endingsOf(ended, nowMs), more: ids.length === MAX_SET };
  }

  private async endingsOf(ended: readonly Session[], nowMs: number): Promise<ToldEvent[]> {
    if (ended.length === 0) return [];
    const firstMs = Math.min(...ended.map((session) => endOf(session, nowMs)));
    const bounds = [firstIdAt(firstMs - ID_CLOCK_SLACK_MS), firstIdAt(nowMs + ID_CLOCK_SLACK_MS)];
    const ids: Uuid[] = ended.map(({ id }) => id);
    const rows = await this.o.database.query<EndingRow>(FIND_ENDINGS, [ids, ENDING_TYPES, ...bounds]);
    return rows.map(({ occurredAt, ...event }) => ({ ...event, at: occurredAt.toISOString() }));
  }
}

const endOf = ({ endedAt }: Session, nowMs: number): number => endedAt?.getTime() ?? nowMs;

const isForgotten = (session: Session, nowMs: number): boolean =>
  session.status !== 'pending' && nowMs - endOf(session, nowMs) > GIVE_UP_MS;
