const ACCOUNT = `id, name, default_webhook_url AS "defaultWebhookUrl", webhook_events AS "webhookEvents",
  otp_countries AS "otpCountries", otp_daily_spend_cap_usd::text AS "otpDailySpendCapUsd", active`;

const BRAND = `id, account_id AS "accountId", name, slug, instruction, logo_url AS "logoUrl",
  rcs_agent_id AS "rcsAgentId", rcs_number_matching AS "rcsNumberMatching", sender_id AS "senderId", domain,
  entropy_key_version AS "entropyKeyVersion", active`;

/** A key that is not revoked, of an account that is active. $1 keyed digest. */
export const FIND_API_KEY = `
  SELECT api_keys.id AS "keyId", api_keys.kind, api_keys.account_id AS "accountId", api_keys.scopes,
    api_keys.limits
  FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE api_keys.digest = $1 AND api_keys.revoked_at IS NULL AND accounts.active`;

/** $1 id. */
export const FIND_ACCOUNT = `SELECT ${ACCOUNT} FROM accounts WHERE id = $1`;

/** $1 id. */
export const FIND_BRAND = `SELECT ${BRAND} FROM brands WHERE id = $1`;

/** The sealed webhook secret of an account. $1 id. */
export const FIND_WEBHOOK_SECRET = `SELECT webhook_secret_sealed AS sealed FROM accounts WHERE id = $1`;

/** $1 id, $2 name, $3 default webhook URL or null, $4 opt-in event types, $5 sealed webhook secret. */
export const INSERT_ACCOUNT = `
  INSERT INTO accounts (id, name, default_webhook_url, webhook_events, webhook_secret_sealed)
  VALUES ($1, $2, $3, $4, $5) RETURNING ${ACCOUNT}`;

/** $1 id, $2 account, $3 name, $4 slug, $5 instruction, $6 entropy key version. */
export const INSERT_BRAND = `
  INSERT INTO brands (id, account_id, name, slug, instruction, entropy_key_version)
  VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${BRAND}`;

/** $1 id, $2 account, $3 kind, $4 name, $5 scopes, $6 prefix for listings, $7 keyed digest. */
export const INSERT_API_KEY = `
  INSERT INTO api_keys (id, account_id, kind, name, scopes, prefix, digest)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

/** Revokes a key, once. $1 id. */
export const REVOKE_API_KEY = `
  UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1 AND revoked_at IS NULL RETURNING id`;
