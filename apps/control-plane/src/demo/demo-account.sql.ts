/** The brand by which the demo account is known. $1 slug. */
export const FIND_DEMO_BRAND = `SELECT id, account_id AS "accountId" FROM brands WHERE slug = $1`;

/** $1 number. */
export const FIND_INBOUND_NUMBER = `SELECT id FROM inbound_numbers WHERE number = $1`;

/** $1 system_id. */
export const DELETE_SYSTEM = `DELETE FROM smpp_systems WHERE system_id = $1`;

/** $1 name. */
export const DELETE_BIND = `DELETE FROM binds WHERE name = $1`;
