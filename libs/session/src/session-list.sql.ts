import { COLUMNS, type TimedRow } from './session.sql.js';
import type { SessionStatus } from './rules/session.js';

/** The clock of a page: one reading for filter and view, so that they agree. */
const READ_AT = `date_trunc('milliseconds', statement_timestamp())`;

/**
 * Row conditions of each status: one query per condition, so that each uses its own index. A pending row past
 * `expires_at` is an expired session.
 */
const CONDITIONS_BY_STATUS: Readonly<Record<SessionStatus | 'any', readonly string[]>> = {
  any: ['true'],
  pending: [`status = 'pending' AND expires_at > ${READ_AT}`],
  approved: [`status = 'approved'`],
  expired: [`status = 'expired'`, `status = 'pending' AND expires_at <= ${READ_AT}`],
  denied: [`status = 'denied'`],
  cancelled: [`status = 'cancelled'`],
};

const BY_ACCOUNT = 'account_id = $1';
/** Written so that no index on the account matches: a phone has few sessions, an account may have millions. */
const BY_PHONE = 'phone = $5 AND account_id IS NOT DISTINCT FROM $1';

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
 * The newest sessions of a tenant between two ids, newest first, until their metadata reach PAGE_METADATA_OCTETS. The
 * mode is a literal, because sessions of test keys have their own index. $1 account, $2 lowest id, $3 upper bound
 * (exclusive), $4 maximum rows, $5 phone if `byPhone`.
 */
export function listSessions(status: SessionStatus | 'any', { byPhone, test }: ListFilter): string {
  const whose = `${byPhone ? BY_PHONE : BY_ACCOUNT} AND ${test ? 'test' : 'NOT test'}`;
  const parts = CONDITIONS_BY_STATUS[status].map(
    (condition) => `(SELECT ${COLUMNS}, ${READ_AT} AS now FROM sessions
      WHERE ${whose} AND id >= $2 AND id < $3 AND ${condition} ORDER BY id DESC LIMIT $4)`,
  );
  const page = `SELECT * FROM (${parts.join(' UNION ALL ')}) AS page ORDER BY id DESC LIMIT $4`;
  return `SELECT * FROM (
      SELECT *, (count(*) OVER ())::int AS found,
        sum(octet_length(metadata)) OVER (ORDER BY id DESC) - octet_length(metadata) AS "octetsBefore"
      FROM (${page}) AS whole) AS bounded
    WHERE "octetsBefore" < ${PAGE_METADATA_OCTETS} ORDER BY id DESC`;
}
