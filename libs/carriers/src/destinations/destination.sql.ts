import { CLOCK_MS as NOW, columnsOf } from '@countersign/postgres';
import { DestinationRuleEntity } from './destination-rule.entity.js';

const RULE = columnsOf(DestinationRuleEntity);

const TALLY = `id, account_id AS "accountId", hour, rule, prefix, refused, last_at AS "lastAt"`;

/**
 * Rules, newest first, without expired guard rules, which only record earlier blocks. $1 maximum rows, $2 cursor id
 * or null, $3 account or null for all.
 */
export const LIST_RULES = `
  SELECT ${RULE} FROM destination_rules
  WHERE ($2::uuid IS NULL OR id < $2) AND ($3::uuid IS NULL OR account_id = $3)
    AND (origin = 'admin' OR until > clock_timestamp())
  ORDER BY id DESC LIMIT $1`;

/** The active rules that match a number, global ones included. $1 account, $2 every prefix of the number, $3 now. */
export const MATCHING_RULES = `
  SELECT ${RULE} FROM destination_rules
  WHERE (account_id = $1 OR account_id IS NULL) AND prefix = ANY ($2::text[]) AND (until IS NULL OR until > $3)`;

/**
 * Blocks a prefix for an account: $5 seconds the first time, four times as long on each repeat, at most $6 seconds;
 * $7 seconds without a block reset the count. While a block is active nothing is written: several processes may
 * detect the same attack concurrently. $1 id, $2 account, $3 prefix, $4 reason.
 */
export const GUARD_BLOCK = `
  INSERT INTO destination_rules AS known (id, account_id, prefix, action, reason, origin, until)
  VALUES ($1, $2, $3, 'block', $4, 'guard', ${NOW} + make_interval(secs => $5::float8))
  ON CONFLICT (account_id, prefix, origin) DO UPDATE SET
    (reason, strikes, until) = (
      SELECT $4, repeats, ${NOW} + make_interval(secs => least($5::float8 * 4.0 ^ repeats, $6::float8))
      FROM (SELECT CASE WHEN known.until < ${NOW} - make_interval(secs => $7::float8) THEN 0
        ELSE least(known.strikes + 1, 100) END AS repeats) AS slate)
  WHERE known.until <= ${NOW}
  RETURNING ${RULE}`;

/** Adds refusals. $1 id of a new row, $2 account, $3 rule, $4 prefix, $5 count. */
export const TALLY_REFUSALS = `
  INSERT INTO otp_refusals AS tally (id, account_id, hour, rule, prefix, refused, last_at)
  VALUES ($1, $2, date_trunc('hour', clock_timestamp(), 'UTC'), $3, $4, $5, ${NOW})
  ON CONFLICT (account_id, hour, rule, prefix) DO UPDATE SET refused = tally.refused + excluded.refused,
    last_at = excluded.last_at`;

/** Adds refusals of codes of sessions. $1 sessions, $2 rules and $3 counts, in the same order, each pair once. */
export const TALLY_SESSION_REFUSALS = `
  INSERT INTO otp_session_refusals AS tally (session_id, rule, refused, first_at, last_at)
  SELECT session_id, rule, refused, ${NOW}, ${NOW} FROM unnest($1::uuid[], $2::text[], $3::integer[])
    AS counted (session_id, rule, refused) ORDER BY session_id, rule
  ON CONFLICT (session_id, rule) DO UPDATE SET refused = tally.refused + excluded.refused, last_at = excluded.last_at`;

/** The refusals of codes of a session. $1 session. */
export const SESSION_REFUSALS = `
  SELECT rule, refused, first_at AS "firstAt", last_at AS "lastAt" FROM otp_session_refusals
  WHERE session_id = $1 ORDER BY first_at, rule`;

/** Deletes refusals of the oldest sessions. $1 lowest session id to keep, $2 maximum rows. */
export const PURGE_SESSION_REFUSALS = `
  DELETE FROM otp_session_refusals WHERE (session_id, rule) IN (
    SELECT session_id, rule FROM otp_session_refusals WHERE session_id < $1 ORDER BY session_id LIMIT $2)
  RETURNING 1`;

/** Tallies, newest first. $1 maximum rows, $2 cursor id or null, $3 account or null for all. */
export const LIST_TALLIES = `
  SELECT ${TALLY} FROM otp_refusals
  WHERE ($2::uuid IS NULL OR id < $2) AND ($3::uuid IS NULL OR account_id = $3)
  ORDER BY id DESC LIMIT $1`;

/** Deletes tallies, oldest first. $1 lowest id to keep, $2 maximum rows. */
export const PURGE_TALLIES = `
  DELETE FROM otp_refusals WHERE id IN (SELECT id FROM otp_refusals WHERE id < $1 ORDER BY id LIMIT $2) RETURNING 1`;
