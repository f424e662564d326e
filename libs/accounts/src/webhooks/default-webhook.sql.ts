const NOW = `date_trunc('milliseconds', clock_timestamp())`;
/** A default URL that is enabled. */
const IN_USE = `account.default_webhook_url = noted.url AND account.default_webhook_disabled_at IS NULL`;

/** Starts the failure time of default URLs. $1 accounts, $2 URLs, $3 times, in the same order. */
export const RECORD_FAILURES = `
  UPDATE accounts account SET default_webhook_failing_since = noted.at
  FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS noted (id, url, at)
  WHERE account.id = noted.id AND ${IN_USE} AND account.default_webhook_failing_since IS NULL`;

/** Clears the failure time of default URLs that succeeded. $1 accounts, $2 URLs in the same order. */
export const RECORD_SUCCESSES = `
  UPDATE accounts account SET default_webhook_failing_since = NULL
  FROM unnest($1::uuid[], $2::text[]) AS noted (id, url)
  WHERE account.id = noted.id AND ${IN_USE} AND account.default_webhook_failing_since IS NOT NULL`;

/** Of default URLs that just failed, those that have failed for long. As RECORD_FAILURES, and $4 days. */
export const FAILING_LONG = `
  SELECT account.id
  FROM accounts account JOIN unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS noted (id, url, at) ON noted.id = account.id
  WHERE ${IN_USE} AND account.default_webhook_failing_since <= noted.at - make_interval(days => $4)
  ORDER BY account.id`;

/** The failure time of an enabled default URL that has failed for long. $1 id, $2 days. */
export const FIND_FAILING = `
  SELECT default_webhook_url AS url, default_webhook_failing_since AS since FROM accounts
  WHERE id = $1 AND default_webhook_disabled_at IS NULL AND default_webhook_url IS NOT NULL
    AND default_webhook_failing_since <= ${NOW} - make_interval(days => $2)`;

/** Clears a failure time, unless it restarted meanwhile. $1 id, $2 URL, $3 the failure time that was read. */
export const CLEAR_FAILING = `
  UPDATE accounts SET default_webhook_failing_since = NULL
  WHERE id = $1 AND default_webhook_url = $2 AND default_webhook_failing_since = $3`;
