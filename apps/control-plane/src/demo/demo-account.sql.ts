/** The demo brand and its account. $1 slug. */
export const FIND_DEMO_BRAND = `SELECT id, account_id AS "accountId" FROM brands WHERE slug = $1`;

/** Sets the agent and the logo URL of a brand where they are null. $1 brand, $2 agent, $3 logo URL. */
export const SET_AGENT = `
  UPDATE brands SET rcs_agent_id = coalesce(rcs_agent_id, $2), logo_url = coalesce(logo_url, $3)
  WHERE id = $1 AND (rcs_agent_id IS NULL OR logo_url IS NULL)`;

/** $1 number. */
export const FIND_INBOUND_NUMBER = `SELECT id FROM inbound_numbers WHERE number = $1`;

/** $1 system_id. */
export const DELETE_SYSTEM = `DELETE FROM smpp_systems WHERE system_id = $1`;

/** Allows codes to every country if the account lists none. $1 account. */
export const ALLOW_ALL_COUNTRIES = `UPDATE accounts SET otp_countries = '{*}' WHERE id = $1 AND otp_countries = '{}'`;

/** Raises the caps of codes if the account has the default ones. $1 account, $2 messages a day, $3 floor. */
export const RAISE_CAPS = `
  UPDATE accounts SET otp_daily_message_cap = $2, otp_unconverted_floor = $3
  WHERE id = $1 AND otp_daily_message_cap = 1000 AND otp_unconverted_floor = 50`;

/** Raises the limits of a key if it has the default ones. $1 key, $2 limits as JSON. */
export const RAISE_LIMITS = `UPDATE api_keys SET limits = $2 WHERE id = $1 AND limits = '{}'`;

/** Deletes the routes of a bind, before the bind is deleted. $1 name of the bind. */
export const DELETE_BIND_ROUTES = `DELETE FROM routes USING binds WHERE binds.id = routes.bind_id AND binds.name = $1`;

/** $1 name. */
export const DELETE_BIND = `DELETE FROM binds WHERE name = $1`;
