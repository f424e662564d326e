import { isTestMode, type Tenant } from '@countersign/keys';
import { firstIdAt, ID_CLOCK_SLACK_MS, idTimeMs, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock } from '@countersign/postgres';
import { sessionOf } from './session.row.js';
import { listSessions, type ListedRow } from './session-list.sql.js';
import { ID_REUSE_WINDOW_MS, LONGEST_SESSION_MS, type Session, type SessionStatus } from './rules/session.js';

/** The filter of a list of sessions of one tenant. */
export interface SessionQuery {
  readonly status?: SessionStatus;
  /** E.164. */
  readonly phone?: string;
  /** Maximum number of sessions on the page; with much metadata it has fewer (see PAGE_METADATA_OCTETS). */
  readonly limit: number;
  /** The last session of the previous page. The caller checks that it exists. */
  readonly startingAfter?: Uuid;
}

export interface SessionPage {
  /** Newest first. */
  readonly sessions: readonly Session[];
  /** Whether there are older sessions. */
  readonly hasMore: boolean;
}

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
    private readonly database: Pick<Database, 'query'>,
    private readonly clock: DatabaseClock,
  ) {}

  async page(tenant: Tenant, query: SessionQuery): Promise<SessionPage> {
    const text = listSessions(query.status ?? 'any', { byPhone: query.phone !== undefined, test: isTestMode(tenant) });
    const phone = query.phone === undefined ? [] : [query.phone];
    const found: Session[] = [];
    for (const { low, high } of idRanges(query, this.clock.nowMs())) {
      // One row more than the page holds shows whether there are more.
      const wanted = query.limit + 1 - found.length;
      const rows = await this.database.query<ListedRow>(text, [tenant.accountId, low, high, wanted, ...phone]);
      found.push(...rows.map(sessionOf));
      if (rows.length < (rows[0]?.found ?? 0)) return { sessions: found.slice(0, query.limit), hasMore: true };
      if (found.length > query.limit) break;
    }
    return { sessions: found.slice(0, query.limit), hasMore: found.length > query.limit };
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
