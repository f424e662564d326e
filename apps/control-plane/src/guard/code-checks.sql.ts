/**
 * Adds checks of codes and the digests of their phones to minutes. A minute keeps a limited number of digests, because
 * more would not change a decision.
 * $1 accounts, $2 minutes, $3 checks, $4 of them failed, in the same order; $5 accounts of phones, $6 minutes, $7 digests
 * of phones, in the same order; $8 digests per minute at most.
 */
export const ADD_CHECKS = `
  INSERT INTO otp_checks AS known (account_id, slot, checks, failed, phones)
  SELECT account_id, slot, checks, failed, ARRAY(
    SELECT phone FROM unnest($5::uuid[], $6::timestamptz[], $7::bytea[]) AS seen (account_id, slot, phone)
    WHERE seen.account_id = counted.account_id AND seen.slot = counted.slot LIMIT $8)
  FROM unnest($1::uuid[], $2::timestamptz[], $3::integer[], $4::integer[]) AS counted (account_id, slot, checks, failed)
  ORDER BY account_id, slot
  ON CONFLICT (account_id, slot) DO UPDATE SET checks = known.checks + excluded.checks,
    failed = known.failed + excluded.failed,
    phones = CASE WHEN cardinality(known.phones) >= $8 OR known.phones @> excluded.phones THEN known.phones
      ELSE ARRAY(SELECT DISTINCT phone FROM unnest(known.phones || excluded.phones) AS phone LIMIT $8) END`;

/** The checks of one account since a minute: at most 61 rows. $1 account, $2 the minute. */
export const READ_CHECKS = `
  SELECT coalesce(sum(checks), 0)::int AS checks, coalesce(sum(failed), 0)::int AS failed,
    (SELECT count(DISTINCT phone)::int FROM otp_checks AS each, unnest(each.phones) AS phone
      WHERE each.account_id = $1 AND each.slot >= $2) AS phones
  FROM otp_checks WHERE account_id = $1 AND slot >= $2`;

/** Deletes minutes that no window reaches any more. $1 the first minute that counts, $2 how many at most. */
export const PURGE_CHECKS = `
  DELETE FROM otp_checks WHERE (account_id, slot) IN (
    SELECT account_id, slot FROM otp_checks WHERE slot < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
