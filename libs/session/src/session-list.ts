import { isTestMode, type Tenant } from '@countersign/keys';
import { firstIdAt, ID_CLOCK_SLACK_MS, idTimeMs, lastIdAt, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import { sessionOf } from './session.row.js';
import { settledRows } from './settled-rows.js';
import { findEnd, listSessions, MAX_ROWS_READ, type ListedRow } from './session-list.sql.js';
import { ID_REUSE_WINDOW_MS, LONGEST_SESSION_MS, type Session, type SessionStatus } from './rules/session.js';

/** The filter of a list of sessions of one tenant. */
export interface SessionQuery {
  readonly status?: SessionStatus;
  /** E.164. */
  readonly phone?: string;
  /** Maximum number of sessions on the page; with much metadata it has fewer (see PAGE_METADATA_OCTETS). */
  readonly limit: number;
  /** The last session of the previous page, which the caller checks to exist, or its `nextStartingAfter`. */
  readonly startingAfter?: Uuid;
}

export interface SessionPage {
  /** Newest first. */
  readonly sessions: readonly Session[];
  /** Whether there are older sessions, or may be. */
  readonly hasMore: boolean;
  /**
   * Where the next page begins if this one ended before it was full, since few of very many rows match. Not the id of a
   * session (see `isListPosition`).
   */
  readonly nextStartingAfter?: Uuid;
}

/** Whether an id is a position in a list, as `nextStartingAfter` gives it: the last id of a millisecond. */
export const isListPosition = (id: Uuid): boolean => id === lastIdAt(idTimeMs(id));

const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum age of an id relative to its row: it may be the id of an earlier attempt, and clocks differ. */
export const ID_EARLIER_MS = ID_REUSE_WINDOW_MS + ID_CLOCK_SLACK_MS;
/** No pending session has an older id, not even one with the id of an earlier attempt. */
const OLDEST_PENDING_MS = LONGEST_SESSION_MS + ID_EARLIER_MS;
/** How far back each query reads, from the page's newest end: a page of recent sessions reads a day or two. */
const RANGES_BACK_MS = [DAY_MS, 7 * DAY_MS, Number.POSITIVE_INFINITY] as const;

/** Pages of sessions, newest first. */
export class SessionList {
  constructor(
    private readonly database: Executor,
    private readonly clock: DatabaseClock,
  ) {}

  async page(tenant: Tenant, query: SessionQuery): Promise<SessionPage> {
    const status = query.status ?? 'any';
    const filter = { byPhone: query.phone !== undefined, test: isTestMode(tenant) };
    const text = listSessions(status, filter);
    const phone = query.phone === undefined ? [] : [query.phone];
    const found: Session[] = [];
    for (const { low, high } of idRanges(query, this.clock.nowMs())) {
      // One row more than the page holds shows whether there are more.
      const wanted = query.limit + 1 - found.length;
      const values = [tenant.accountId, low, high];
      const rows = await this.database.query<ListedRow>(text, [...values, wanted, ...phone]);
      found.push(...(await settledRows(this.database, rows)).map(sessionOf));
      if (rows.length < (rows[0]?.found ?? 0)) return { sessions: found.slice(0, query.limit), hasMore: true };
      if (found.length > query.limit) break;
      const position = await this.endOf(findEnd(status, filter), [...values, MAX_ROWS_READ - 1, ...phone]);
      if (position !== null) {
        const sessions = found.filter(({ id }) => id > position);
        return { sessions, hasMore: true, nextStartingAfter: position };
      }
    }
    return { sessions: found.slice(0, query.limit), hasMore: found.length > query.limit };
  }

  /**
   * The position at which a page ends that read as many rows as it may; null if it read all rows of the range. Sessions of
   * the last millisecond belong to the next page, since some of them may not have been read.
   */
  private async endOf(text: string, values: readonly unknown[]): Promise<Uuid | null> {
    const [end] = await this.database.query<{ id: Uuid }>(text, values);
    return end === undefined ? null : lastIdAt(idTimeMs(end.id));
  }
}

interface IdRange {
  readonly low: Uuid;
  /** Exclusive. */
  readonly high: Uuid;
}

/** Id ranges to query one after the other until the page is full: newest first, disjoint. */
function idRanges({ status, startingAfter }: SessionQuery, nowMs: number): IdRange[] {
  const newest = startingAfter ?? firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
  const oldestMs = status === 'pending' ? nowMs - OLDEST_PENDING_MS : 0;
  const ends = RANGES_BACK_MS.map((backMs) => firstIdAt(Math.max(oldestMs, idTimeMs(newest) - backMs)));
  return ends.map((low, at) => ({ low, high: ends[at - 1] ?? newest })).filter(({ low, high }) => low < high);
}
