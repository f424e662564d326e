import { columnsOf } from '@countersign/postgres';
import { BindEntity } from './bind.entity.js';
import { InboundNumberEntity } from './inbound-number.entity.js';
import { isLeased } from './lease.sql.js';
import { SmppSystemEntity } from './smpp-system.entity.js';

/**
 * A digest of another length than an HMAC-SHA-256 is read as an empty one, which no password has: a row from before the
 * constraint on it must not make the others unreadable.
 */
const DIGEST = `CASE WHEN octet_length(password_digest) = 32 THEN password_digest ELSE '' END AS "passwordDigest"`;

const SYSTEM = `${columnsOf(SmppSystemEntity, { table: 'smpp_systems', without: ['passwordDigest'] })}, ${DIGEST}`;

/** Every inbound number, oldest first: a table of tens to thousands of rows, read every 3 s at most. */
export const LIST_NUMBERS = `SELECT ${columnsOf(InboundNumberEntity)} FROM inbound_numbers ORDER BY id`;

/**
 * Long numbers that were ours. Read after LIST_NUMBERS: a number that is deleted between the two statements is then in
 * both results, never in neither.
 */
export const LIST_FORMER_NUMBERS = `SELECT number FROM former_numbers ORDER BY number`;

/**
 * Held to the end of the transaction: of two creates or changes of inbound numbers the second sees the first. Gateways
 * still read the table.
 */
export const LOCK_NUMBERS = `LOCK TABLE former_numbers IN SHARE ROW EXCLUSIVE MODE`;

/**
 * Our long numbers, and those that were ours, with the last four digits of another one. $1 that number, $2 the id of a
 * row that is left out, or null.
 */
export const LIST_SAME_END = `
  SELECT number, true AS "isOurs" FROM inbound_numbers
    WHERE number LIKE '+%' AND right(number, 4) = right($1, 4) AND id IS DISTINCT FROM $2::uuid
  UNION ALL SELECT number, false FROM former_numbers WHERE right(number, 4) = right($1, 4)`;

/** $1 id. */
export const FIND_LONG_NUMBER = `SELECT number FROM inbound_numbers WHERE id = $1 AND number LIKE '+%'`;

/** $1 a long number that is deleted or replaced. */
export const ADD_FORMER_NUMBER = `INSERT INTO former_numbers VALUES ($1) ON CONFLICT DO NOTHING`;

/** $1 numbers. */
export const DELETE_FORMER_NUMBERS = `DELETE FROM former_numbers WHERE number = ANY ($1::text[])`;

/** A system that connects in. $1 system_id. */
export const FIND_SYSTEM = `SELECT ${SYSTEM} FROM smpp_systems WHERE system_id = $1`;

/** Every system that connects in, oldest first, disabled ones included. */
export const LIST_SYSTEMS = `SELECT ${SYSTEM} FROM smpp_systems ORDER BY id`;

/** Every bind, oldest first, disabled ones included. */
export const LIST_BINDS = `SELECT ${columnsOf(BindEntity, { table: 'binds' })} FROM binds ORDER BY id`;

/** Whether a bind or a system is trusted for MO, disabled ones included. */
export const HAS_TRUSTED_LINK = `
  SELECT EXISTS (SELECT FROM binds WHERE trusted_for_mo) OR EXISTS (SELECT FROM smpp_systems WHERE trusted_for_mo) AS found`;

/** Replaces the digest of a system's password. $1 id, $2 the digest that was read, $3 the new one, $4 its version. */
export const RENEW_SYSTEM_PASSWORD = `
  UPDATE smpp_systems SET password_digest = $3, digest_version = $4 WHERE id = $1 AND password_digest = $2`;

/** $1 id. */
export const DELETE_SYSTEM = `
  WITH unlearned AS (DELETE FROM sender_formats WHERE link_id = $1)
  DELETE FROM smpp_systems WHERE id = $1`;

/**
 * Deletes a bind, and the rows of connections without a holder, including those of binds deleted earlier: a
 * connection that is held is drained first. $1 id.
 */
export const DELETE_BIND = `
  WITH forgotten AS (
    DELETE FROM bind_connections AS c
    WHERE NOT ${isLeased('c')}
      AND (c.bind_id = $1 OR NOT EXISTS (SELECT FROM binds WHERE id = c.bind_id))),
  unlearned AS (DELETE FROM sender_formats WHERE link_id = $1)
  DELETE FROM binds WHERE id = $1`;

/** $1 the name; returns it and the names derived from it that exist. */
export const LIST_NAMES_LIKE = `SELECT name FROM binds WHERE name = $1 OR starts_with(name, $1 || ' ')`;
