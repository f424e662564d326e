import type { Mode } from '@countersign/keys';
import { columnsOf } from '@countersign/postgres';
import { AccountEntity } from './account.entity.js';
import { LIMIT_NAMES } from './account.js';
import { BrandEntity } from './brand.entity.js';

/** Keys that are not revoked, of accounts that are active. $1 digests, of each key under each version of the master key. */
export const FIND_API_KEYS = `
  SELECT api_keys.id AS "keyId", api_keys.kind, api_keys.account_id AS "accountId", api_keys.scopes,
    api_keys.limits, api_keys.quota_id AS "quotaId", lender.limits AS "limitsOfQuota",
    api_keys.digest_version AS "digestVersion", encode(api_keys.digest, 'hex') AS digest
  FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  LEFT JOIN api_keys lender ON lender.id = api_keys.quota_id
  WHERE api_keys.digest = ANY ($1::bytea[]) AND api_keys.revoked_at IS NULL AND accounts.active`;

/** The keys that are not revoked, of active accounts, with their scopes. $1 ids. */
export const FIND_LIVE_KEYS = `
  SELECT api_keys.id, encode(api_keys.digest, 'hex') AS digest, api_keys.scopes
  FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE api_keys.id = ANY ($1::uuid[]) AND api_keys.revoked_at IS NULL AND accounts.active`;

/** A condition for statements that act for a key: it is not revoked, and its account is active. */
export const isLiveKey = (keyId: string): string => `EXISTS (
  SELECT FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE api_keys.id = ${keyId} AND api_keys.revoked_at IS NULL AND accounts.active)`;

/** $1 id. */
export const FIND_ACCOUNT = `SELECT ${columnsOf(AccountEntity)} FROM accounts WHERE id = $1`;

/** $1 id. */
export const FIND_BRAND = `SELECT ${columnsOf(BrandEntity)} FROM brands WHERE id = $1`;

/** Keys of the account $1 and the mode $2 that are not revoked, or were created within a day. */
export const COUNT_RECENT_KEYS = `
  SELECT count(*)::integer AS keys FROM api_keys
  WHERE account_id = $1 AND kind = $2 AND (revoked_at IS NULL OR created_at > clock_timestamp() - interval '1 day')`;

/**
 * The largest of each limit of the keys of the account $1 and the mode $2 that are not revoked, or of its revoked keys when
 * all are; null for an account without a key. A key has no more than the one whose quota it uses. $3 the limits of a key that
 * has none of its own.
 */
export const LARGEST_LIMITS = `
  WITH keys AS (
    SELECT $3::jsonb || k.limits AS own, $3::jsonb || lender.limits AS lent, k.revoked_at IS NULL AS valid
    FROM api_keys k LEFT JOIN api_keys lender ON lender.id = k.quota_id WHERE k.account_id = $1 AND k.kind = $2)
  SELECT ${LIMIT_NAMES.map(
    (name) => `max(least((own->>'${name}')::integer, (lent->>'${name}')::integer)) AS "${name}"`,
  ).join(', ')} FROM keys
  WHERE valid OR NOT EXISTS (SELECT FROM keys WHERE valid)`;

/**
 * The key $1 with the text whose digests are $2 in hex, unless it was revoked or rotated or its account is not active. It
 * stays so until the transaction ends.
 */
export const HOLD_API_KEY = `
  SELECT k.scopes, k.limits, k.quota_id AS "quotaId", k.member_id AS "memberId", lender.limits AS "limitsOfQuota"
  FROM api_keys k JOIN accounts ON accounts.id = k.account_id
  LEFT JOIN api_keys lender ON lender.id = k.quota_id
  WHERE k.id = $1 AND encode(k.digest, 'hex') = ANY ($2::text[]) AND k.revoked_at IS NULL AND accounts.active
  FOR SHARE OF k`;

/** Keys of the account $1 that are not revoked, and whose text the member $2 knows. */
export const KEYS_OF_MEMBER = `
  SELECT id FROM api_keys WHERE account_id = $1 AND member_id = $2 AND revoked_at IS NULL ORDER BY id`;

/** By mode, the columns of the webhook secret and of replaced secrets that still sign. */
const SECRET_COLUMNS: Readonly<
  Record<Mode, { readonly sealed: string; readonly previous: string; readonly until: string }>
> = {
  live: {
    sealed: 'webhook_secret_sealed',
    previous: 'previous_webhook_secrets_sealed',
    until: 'previous_webhook_secrets_until',
  },
  test: {
    sealed: 'test_webhook_secret_sealed',
    previous: 'previous_test_webhook_secrets_sealed',
    until: 'previous_test_webhook_secrets_until',
  },
};

/** Replaced secrets of an account that still sign. */
const stillSigning = ({ previous, until }: (typeof SECRET_COLUMNS)[Mode]): string => `
  unnest(${previous}, ${until}) AS replaced (sealed, until) WHERE until > statement_timestamp()`;

const byMode = (statement: (columns: (typeof SECRET_COLUMNS)[Mode]) => string): Readonly<Record<Mode, string>> => ({
  live: statement(SECRET_COLUMNS.live),
  test: statement(SECRET_COLUMNS.test),
});

/** The sealed webhook secret of an account, and replaced ones that still sign, the latest first. $1 id. */
export const FIND_WEBHOOK_SECRETS = byMode(
  (columns) => `
  SELECT ${columns.sealed} AS sealed,
    ARRAY(SELECT sealed FROM ${stillSigning(columns)} ORDER BY until DESC) AS previous
  FROM accounts WHERE id = $1`,
);

/** Sets the test secret of an account without one. Returns the stored one. $1 id, $2 sealed secret. */
export const ENSURE_TEST_WEBHOOK_SECRET = `
  UPDATE accounts SET test_webhook_secret_sealed = coalesce(test_webhook_secret_sealed, $2)
  WHERE id = $1 RETURNING test_webhook_secret_sealed AS sealed`;

/**
 * Replaces the signing secret; the replaced one still signs for a while, and so do those before it until their own
 * time. No row when too many would. $1 id, $2 sealed secret, $3 hours, $4 maximum number of replaced secrets.
 */
export const ROTATE_WEBHOOK_SECRET = byMode(
  (columns) => `
  UPDATE accounts
  SET ${columns.sealed} = $2, (${columns.previous}, ${columns.until}) = (
    SELECT array_agg(sealed ORDER BY until DESC), array_agg(until ORDER BY until DESC) FROM (
      SELECT ${columns.sealed} AS sealed, date_trunc('milliseconds', clock_timestamp()) + make_interval(hours => $3) AS until
      UNION ALL SELECT sealed, until FROM ${stillSigning(columns)}) AS signing)
  WHERE id = $1 AND (SELECT count(*) FROM ${stillSigning(columns)}) < $4
  RETURNING ${columns.until}[1] AS "previousUntil"`,
);

/** Seconds until the first of the replaced secrets expires. $1 id. */
export const SECRET_OVER_IN = byMode(
  (columns) => `
  SELECT extract(epoch FROM (SELECT min(until) FROM ${stillSigning(columns)}) - statement_timestamp())::float8 AS seconds
  FROM accounts WHERE id = $1`,
);

/**
 * Clears the failure time of a default URL that is about to be replaced or enabled again. $1 id, $2 the new URL or
 * null, $3 when it was disabled, or null.
 */
export const CLEAR_FAILURES = `
  UPDATE accounts SET default_webhook_failing_since = NULL
  WHERE id = $1 AND (default_webhook_url IS DISTINCT FROM $2
    OR default_webhook_disabled_at IS NOT NULL AND $3::timestamptz IS NULL)`;
