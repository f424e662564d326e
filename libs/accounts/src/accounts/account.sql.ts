import type { Mode } from '@countersign/keys';

export const ACCOUNT = `id, name, default_webhook_url AS "defaultWebhookUrl",
  default_webhook_disabled_at AS "defaultWebhookDisabledAt",
  default_webhook_disabled_reason AS "defaultWebhookDisabledReason", test_webhook_url AS "testWebhookUrl",
  webhook_events AS "webhookEvents", otp_countries AS "otpCountries",
  otp_daily_spend_cap_usd::text AS "otpDailySpendCapUsd", otp_daily_message_cap AS "otpDailyMessageCap",
  otp_unconverted_floor AS "otpUnconvertedFloor", active`;

export const BRAND = `id, account_id AS "accountId", name, slug, instruction, logo_url AS "logoUrl",
  rcs_agent_id AS "rcsAgentId", rcs_number_matching AS "rcsNumberMatching", sender_id AS "senderId", domain,
  entropy_key_version AS "entropyKeyVersion", active`;

/** All columns of a key except its digest. */
export const API_KEY = `id, account_id AS "accountId", kind, name, scopes, limits, prefix,
  last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;

/** Keys that are not revoked, of accounts that are active. $1 digests, of each key under each version of the master key. */
export const FIND_API_KEYS = `
  SELECT api_keys.id AS "keyId", api_keys.kind, api_keys.account_id AS "accountId", api_keys.scopes,
    api_keys.limits, api_keys.digest_version AS "digestVersion", encode(api_keys.digest, 'hex') AS digest
  FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE api_keys.digest = ANY ($1::bytea[]) AND api_keys.revoked_at IS NULL AND accounts.active`;

/** The keys that are not revoked, of active accounts, with their scopes. $1 ids. */
export const FIND_LIVE_KEYS = `
  SELECT api_keys.id, encode(api_keys.digest, 'hex') AS digest, api_keys.scopes
  FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE api_keys.id = ANY ($1::uuid[]) AND api_keys.revoked_at IS NULL AND accounts.active`;

/** $1 id. */
export const FIND_ACCOUNT = `SELECT ${ACCOUNT} FROM accounts WHERE id = $1`;

/** $1 id. */
export const FIND_BRAND = `SELECT ${BRAND} FROM brands WHERE id = $1`;

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
 * $1 id, $2 name, $3 default webhook URL or null, $4 opt-in event types, $5 countries, $6 spend cap or null, $7
 * active, $8 message cap, $9 floor of unconverted codes, $10 test webhook URL or null, $11 sealed secret, $12 sealed
 * test secret.
 */
export const INSERT_ACCOUNT = `
  INSERT INTO accounts (id, name, default_webhook_url, webhook_events, otp_countries, otp_daily_spend_cap_usd, active,
    otp_daily_message_cap, otp_unconverted_floor, test_webhook_url, webhook_secret_sealed, test_webhook_secret_sealed)
  VALUES ($1, $2, $3, $4, $5, $6::numeric, $7, $8, $9, $10, $11, $12) RETURNING ${ACCOUNT}`;

/**
 * Parameters as for the insert, without the secrets; $11 when the default URL was disabled and $12 why, or null. A
 * new or re-enabled URL has no failures.
 */
export const UPDATE_ACCOUNT = `
  UPDATE accounts SET name = $2, default_webhook_url = $3, webhook_events = $4, otp_countries = $5,
    otp_daily_spend_cap_usd = $6::numeric, active = $7, otp_daily_message_cap = $8, otp_unconverted_floor = $9,
    test_webhook_url = $10, default_webhook_disabled_at = $11, default_webhook_disabled_reason = $12,
    default_webhook_failing_since = CASE WHEN default_webhook_url IS NOT DISTINCT FROM $3
      AND (default_webhook_disabled_at IS NULL OR $11::timestamptz IS NOT NULL) THEN default_webhook_failing_since END
  WHERE id = $1 RETURNING ${ACCOUNT}`;

/**
 * $1 id, $2 name, $3 slug, $4 instruction, $5 logo URL, $6 RCS agent, $7 number matching, $8 sender, $9 domain,
 * $10 active, $11 account, $12 entropy key version.
 */
export const INSERT_BRAND = `
  INSERT INTO brands (id, name, slug, instruction, logo_url, rcs_agent_id, rcs_number_matching, sender_id, domain, active,
    account_id, entropy_key_version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING ${BRAND}`;

/** Parameters as for the insert, without account and entropy key, which never change. */
export const UPDATE_BRAND = `
  UPDATE brands SET name = $2, slug = $3, instruction = $4, logo_url = $5, rcs_agent_id = $6, rcs_number_matching = $7,
    sender_id = $8, domain = $9, active = $10
  WHERE id = $1 RETURNING ${BRAND}`;

/**
 * $1 id, $2 account, $3 kind, $4 name, $5 scopes, $6 limits as JSON text, $7 prefix for listings, $8 keyed digest, $9
 * the version of the master key of the digest.
 */
export const INSERT_API_KEY = `
  INSERT INTO api_keys (id, account_id, kind, name, scopes, limits, prefix, digest,
    digest_version)
  VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9) RETURNING ${API_KEY}`;

/** The changeable columns of a key. $1 id, $2 name, $3 scopes, $4 limits as JSON text. */
export const UPDATE_API_KEY = `
  UPDATE api_keys SET name = $2, scopes = $3, limits = $4::jsonb WHERE id = $1 RETURNING ${API_KEY}`;

/**
 * Replaces the secret of a key that is not revoked. $1 id, $2 prefix for listings, $3 keyed digest, $4 its version.
 */
export const ROTATE_API_KEY = `
  UPDATE api_keys SET prefix = $2, digest = $3, digest_version = $4 WHERE id = $1 AND revoked_at IS NULL RETURNING ${API_KEY}`;

/** Revokes a key, once. $1 id. */
export const REVOKE_API_KEY = `
  UPDATE api_keys SET revoked_at = date_trunc('milliseconds', clock_timestamp())
  WHERE id = $1 AND revoked_at IS NULL RETURNING ${API_KEY}`;
