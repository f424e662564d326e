import { TIME_BOUNDS_MS } from './approval-time.js';
import { COUNTED } from './counted-accounts.sql.js';
import { EPOCH } from './session-price.sql.js';

/** The route of sessions, and of codes that were submitted without one. */
export const NO_ROUTE = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** The bucket of a session's time to approve, 0 if it is not approved. */
export const bucketOf = (status: string): string => `
  CASE ${status} WHEN 'approved' THEN width_bucket(
    ((extract(epoch FROM ended_at)::float8 - extract(epoch FROM created_at)::float8) * 1000),
    ARRAY[${TIME_BOUNDS_MS.join(', ')}]::float8[]) ELSE 0 END::smallint`;

/** Of a session that a code approved: the route of the last code that was submitted before. $low, $high: ids of codes. */
export const routeOfApproval = (session: string, low: string, high: string): string => `
  LATERAL (
    SELECT route_id FROM outbound_messages AS codes
    WHERE codes.session_id = ${session}.id AND codes.id >= ${low}::uuid AND codes.id < ${high}::uuid
      AND codes.submitted_at <= ${session}.ended_at AND codes.route_id IS NOT NULL
    ORDER BY codes.submitted_at DESC LIMIT 1)`;

/**
 * The minutes of a span before the hours that are read instead, and those after them, as two ranges of an index: those of the
 * hours are kept, and a month of them would be read to be left out.
 */
export function minutesApart(
  condition: string,
  [from, to]: ParameterPair,
  [hoursFrom, hoursTo]: ParameterPair,
): string {
  const part = (low: string, high: string): string =>
    `SELECT * FROM usage_minutes WHERE ${condition} AND minute >= ${low} AND minute < ${high}`;
  return `${part(from, `least(${to}, ${hoursFrom}::timestamptz)`)} UNION ALL ${part(`greatest(${from}, ${hoursTo}::timestamptz)`, to)}`;
}

/** The parameters of a span, as `$1`. */
type ParameterPair = readonly [from: string, to: string];

/** Parameters of `changesBetween`, as `$1`. */
export interface ChangeParameters {
  /** Transactions: from (inclusive) to (exclusive). */
  readonly fromXid: string;
  readonly toXid: string;
  /** Creation of the sessions: from (inclusive) to (exclusive). */
  readonly from: string;
  readonly to: string;
  /** Ids of IdSpan. */
  readonly low: string;
  readonly sessionHigh: string;
  readonly messageHigh: string;
}

/**
 * CTEs `moved` and `sent`: what the transactions of a range changed of the counts of sessions and codes.
 *
 * A session counts once, in a state that depends on the transactions that are considered: `moved` has its state after the range
 * with a positive count and its state before the range, if it existed, with a negative one. So the sums of adjacent ranges are
 * the sums of their union, whatever the order of the commits. A session that a release before minutes ended counts as pending
 * until its minute is settled. The greatest of its transactions finds it; the ids alone would be a range
 * that the planner expects to be narrow (see LOCK_BY_DIGEST in libs/session).
 *
 * Sessions are grouped as they are read, since a row of a CTE for each would double the price. `created_at` is the minute of a
 * group; a session that a code approved is a group of its own, with its `id` and `ended_at`.
 */
export function changesBetween(p: ChangeParameters): string {
  const changed = 'greatest(sessions.created_xid, sessions.rcs_xid, sessions.ended_xid)';
  const stateAt = (xid: string): string => `
      CASE WHEN rcs_xid >= ${xid}::bigint THEN 'sms_fallback' ELSE channel END,
      CASE WHEN coalesce(ended_xid, created_xid) < ${xid}::bigint THEN status ELSE 'pending' END`;
  return `
  changed (account_id, test, brand_id, country, created_at, epoch, bucket, id, existed, channel_before, status_before,
      channel_after, status_after, ended_at, count) AS MATERIALIZED (
    SELECT account_id, test, brand_id, country, date_trunc('minute', created_at), ${EPOCH}, ${bucketOf('status')},
      CASE approved_by WHEN 'otp' THEN id END, created_xid < ${p.fromXid}::bigint, ${stateAt(p.fromXid)}, ${stateAt(p.toXid)},
      max(ended_at), count(*)::integer
    FROM sessions
    WHERE ${changed} >= ${p.fromXid}::bigint AND ${changed} < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      AND created_xid < ${p.toXid}::bigint
      AND id >= ANY (ARRAY[${p.low}]::uuid[]) AND id < ANY (ARRAY[${p.sessionHigh}]::uuid[])
      AND created_at >= ${p.from}::timestamptz AND created_at < ${p.to}::timestamptz AND ${COUNTED}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
  moved AS (
    SELECT id, account_id, test, brand_id, country, created_at, ended_at, epoch, channel, status,
      CASE status WHEN 'approved' THEN bucket ELSE 0 END::smallint AS bucket, sign * count AS count
    FROM changed CROSS JOIN LATERAL
      (VALUES (1, channel_after, status_after), (-1, channel_before, status_before)) AS side (sign, channel, status)
    WHERE sign = 1 OR existed),
  sent AS (
    SELECT sessions.account_id, sessions.brand_id, sessions.country, sessions.created_at,
      coalesce(codes.route_id, ${NO_ROUTE}) AS route_id, coalesce(codes.cost_usd, 0) AS cost_usd
    FROM outbound_messages AS codes JOIN sessions ON sessions.id = codes.session_id
    WHERE codes.submitted_xid >= ${p.fromXid}::bigint AND codes.submitted_xid < ${p.toXid}::bigint AND NOT codes.test
      AND codes.id >= ANY (ARRAY[${p.low}]::uuid[]) AND codes.id < ANY (ARRAY[${p.messageHigh}]::uuid[])
      AND sessions.id >= ANY (ARRAY[${p.low}]::uuid[]) AND sessions.id < ANY (ARRAY[${p.sessionHigh}]::uuid[])
      AND sessions.created_at >= ${p.from}::timestamptz AND sessions.created_at < ${p.to}::timestamptz
      AND sessions.${COUNTED})`;
}
