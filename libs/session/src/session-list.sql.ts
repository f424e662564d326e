import { COLUMNS, type TimedRow } from './session.sql.js';
import type { SessionStatus } from './rules/session.js';

/** The clock of a page: one reading for filter and view, so that they agree. */
const READ_AT = `date_trunc('milliseconds', statement_timestamp())`;

/** The index range that a part reads in the order of ids. `status`: `sessions_unapproved` has it before the id. */
type ReadBy = 'id' | 'status' | 'due';

/** One query of a page: the index range that it reads, and the rows of it that it shows. */
interface Part {
  readonly by: ReadBy;
  readonly shows: string;
}

/**
 * The parts of a page by status: one for each index. A pending row past `expires_at` is an expired session; the sweeper
 * leaves few of them, which `sessions_due` finds.
 */
const PARTS_BY_STATUS: Readonly<Record<SessionStatus | 'any', readonly Part[]>> = {
  any: [{ by: 'id', shows: 'true' }],
  pending: [{ by: 'id', shows: `status = 'pending' AND expires_at > ${READ_AT}` }],
  approved: [{ by: 'id', shows: `status = 'approved'` }],
  expired: [
    { by: 'status', shows: `status = 'expired'` },
    { by: 'due', shows: `status = 'pending' AND expires_at <= ${READ_AT}` },
  ],
  denied: [{ by: 'status', shows: `status = 'denied'` }],
  cancelled: [{ by: 'status', shows: `status = 'cancelled'` }],
};

const BETWEEN = 'id >= $2 AND id < $3';

export interface ListFilter {
  readonly byPhone: boolean;
  /** Sessions of test keys, or live sessions. */
  readonly test: boolean;
}

/** Octets of metadata on a page; the row that reaches this limit is the last. 100 rows may have 3 MB. */
export const PAGE_METADATA_OCTETS = 262_144;

/** A row of a page, with the number of rows that the page had before PAGE_METADATA_OCTETS was applied. */
export type ListedRow = TimedRow & { readonly found: number };

/**
 * Rows of the account and mode that a page reads of one index range at most, whatever part of them it shows. A page that needs more ends there (see
 * `findEnd`). Of 500,000 sessions of an account of which 10 match, a page took 310 ms and up to three processes of
 * PostgreSQL; with this bound it takes 15 ms of one.
 */
export const MAX_ROWS_READ = 20_000;

/**
 * The newest sessions of a tenant between two ids, newest first, until their metadata reach PAGE_METADATA_OCTETS. Reads
 * MAX_ROWS_READ rows of each part at most. The mode is a literal, because sessions of test keys have their own index.
 * $1 account, $2 lowest id, $3 upper bound (exclusive), $4 maximum rows, $5 phone if `byPhone`.
 */
export function listSessions(status: SessionStatus | 'any', filter: ListFilter): string {
  const parts = PARTS_BY_STATUS[status].map((part) => `(${partOf(part, filter)})`);
  const page = `SELECT * FROM (${parts.join(' UNION ALL ')}) AS page ORDER BY id DESC LIMIT $4`;
  return `SELECT * FROM (
      SELECT *, (count(*) OVER ())::int AS found,
        sum(octet_length(metadata)) OVER (ORDER BY id DESC) - octet_length(metadata) AS "octetsBefore"
      FROM (${page}) AS whole) AS bounded
    WHERE "octetsBefore" < ${PAGE_METADATA_OCTETS} ORDER BY id DESC`;
}

/**
 * The newest id up to which some part of `listSessions` has read, if it read MAX_ROWS_READ rows: the page may show older
 * rows only incompletely. No row if all parts read their whole range. Parameters as for `listSessions`, but $4 is
 * MAX_ROWS_READ - 1.
 */
export function findEnd(status: SessionStatus | 'any', filter: ListFilter): string {
  const ends = PARTS_BY_STATUS[status]
    .filter(({ by }) => by !== 'due')
    .map((part) => `(SELECT id FROM ${rangeOf(part, filter)} OFFSET $4 LIMIT 1)`);
  return `SELECT id FROM (${ends.join(' UNION ALL ')}) AS ends
    WHERE $1::uuid IS NOT NULL ORDER BY id DESC LIMIT 1`;
}

/**
 * The filter is outside the limited range, so that no more rows are read. There is no ORDER BY outside: rows keep the
 * order of the range, and with one the planner would read the whole range for each page.
 */
function partOf(part: Part, filter: ListFilter): string {
  const { byPhone, test } = filter;
  const whose = `account_id = $1 AND ${test ? 'test' : 'NOT test'}${byPhone ? ' AND phone = $5' : ''}`;
  const columns = `${COLUMNS}, ${READ_AT} AS now`;
  if (part.by === 'due') {
    const due = `SELECT * FROM sessions WHERE ${part.shows} AND ${BETWEEN} OFFSET 0`;
    return `SELECT ${columns} FROM (${due}) AS due WHERE ${whose} ORDER BY id DESC LIMIT $4`;
  }
  const range = `SELECT * FROM ${rangeOf(part, filter)} LIMIT ${MAX_ROWS_READ}`;
  return `SELECT ${columns} FROM (${range}) AS read WHERE ${whose} AND ${part.shows} LIMIT $4`;
}

/**
 * The rows that a part reads, newest first: rows of the account and mode alone, because their number is visible in the
 * position at which a page ends. Rows of a phone are filtered behind a fence (OFFSET 0), so that they are read by the index
 * of phones; those of other accounts are passed over and not counted. Sessions of test keys are few, and have one index.
 */
function rangeOf({ by, shows }: Part, { byPhone, test }: ListFilter): string {
  const mode = test ? 'test' : 'NOT test';
  if (byPhone) {
    const ofPhone = `SELECT * FROM sessions WHERE phone = $5 AND ${BETWEEN} ORDER BY id DESC OFFSET 0`;
    return `(${ofPhone}) AS of_phone WHERE account_id = $1 AND ${mode}`;
  }
  const status = by === 'status' && !test ? ` AND ${shows}` : '';
  return `sessions WHERE account_id = $1 AND ${mode}${status} AND ${BETWEEN} ORDER BY id DESC`;
}
