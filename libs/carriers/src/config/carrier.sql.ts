const LINK_TERMS = `carrier, default_alphabet AS "defaultAlphabet", retryable_mo_status AS "retryableMoStatus",
  trusted_for_mo AS "trustedForMo", sender_format AS "senderFormat", (
    SELECT json_build_object('learned', learned, 'epoch', epoch) FROM sender_formats WHERE link_id = id
  ) AS "senderLearning", enabled`;

export const SYSTEM = `id, system_id AS "systemId", password_digest AS "passwordDigest",
  digest_version AS "digestVersion", bind_types AS "bindTypes",
  allowed_cidrs AS "allowedCidrs", max_connections AS "maxConnections",
  submit_per_second AS "submitPerSecond", tls_required AS "tlsRequired", ${LINK_TERMS}`;

export const BIND = `id, name, hosts, tls, system_id AS "systemId", password_sealed AS "passwordSealed",
  system_type AS "systemType", bind_type AS "bindType", interface_version AS "interfaceVersion",
  address_range AS "addressRange", send_window AS "sendWindow", connections, submit_per_second AS "submitPerSecond",
  message_id_base AS "messageIdBase", temporary_statuses AS "temporaryStatuses", generation,
  full_trace_until AS "fullTraceUntil", enquire_link_seconds AS "enquireLinkSeconds",
  response_timeout_seconds AS "responseTimeoutSeconds", ${LINK_TERMS}`;

export const NUMBER = `id, number, countries, brand_id AS "brandId"`;

/** Every inbound number, oldest first: a table of tens to thousands of rows, read every 3 s at most. */
export const LIST_NUMBERS = `SELECT ${NUMBER} FROM inbound_numbers ORDER BY id`;

/** A system that connects in. $1 system_id. */
export const FIND_SYSTEM = `SELECT ${SYSTEM} FROM smpp_systems WHERE system_id = $1`;

/** Every system that connects in, oldest first, disabled ones included. */
export const LIST_SYSTEMS = `SELECT ${SYSTEM} FROM smpp_systems ORDER BY id`;

/** Every bind, oldest first, disabled ones included. */
export const LIST_BINDS = `SELECT ${BIND} FROM binds ORDER BY id`;

/** Whether a bind or a system is trusted for MO, disabled ones included. */
export const HAS_TRUSTED_LINK = `
  SELECT EXISTS (SELECT FROM binds WHERE trusted_for_mo) OR EXISTS (SELECT FROM smpp_systems WHERE trusted_for_mo) AS found`;

/** $1 id, $2 number, $3 countries, $4 brand or null. */
export const INSERT_NUMBER = `
  INSERT INTO inbound_numbers (id, number, countries, brand_id) VALUES ($1, $2, $3, $4) RETURNING ${NUMBER}`;

/**
 * $1 id, $2 system_id, $3 keyed digest of the password, $4 carrier, $5 bind types, $6 networks, $7 maximum
 * connections, $8 messages per second or null, $9 TLS required, $10 trusted for MO, $11 default alphabet, $12
 * retryable status, $13 enabled, $14 sender format, $15 version of the master key for a new digest.
 */
export const INSERT_SYSTEM = `
  INSERT INTO smpp_systems (id, system_id, password_digest, carrier, bind_types, allowed_cidrs, max_connections,
    submit_per_second, tls_required, trusted_for_mo, default_alphabet, retryable_mo_status, enabled, sender_format,
    digest_version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING ${SYSTEM}`;

/**
 * $1 id, $2 name, $3 carrier, $4 hosts and $5 TLS as JSON, $6 system_id, $7 sealed password, $8 system_type, $9 bind
 * type, $10 interface version, $11 address range, $12 send window, $13 connections, $14 submits per second, $15 base
 * of message ids, $16 temporary statuses, $17 enquire_link and $18 response seconds, $19 default alphabet, $20
 * retryable status, $21 trusted for MO, $22 enabled, $23 sender format.
 */
export const INSERT_BIND = `
  INSERT INTO binds (id, name, carrier, hosts, tls, system_id, password_sealed, system_type, bind_type,
    interface_version, address_range, send_window, connections, submit_per_second, message_id_base, temporary_statuses,
    enquire_link_seconds, response_timeout_seconds, default_alphabet, retryable_mo_status, trusted_for_mo, enabled,
    sender_format)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) RETURNING ${BIND}`;

/** Parameters as for the insert. */
export const UPDATE_NUMBER = `
  UPDATE inbound_numbers SET number = $2, countries = $3, brand_id = $4 WHERE id = $1 RETURNING ${NUMBER}`;

/** $1 id. */
export const DELETE_NUMBER = `DELETE FROM inbound_numbers WHERE id = $1`;

/** Parameters as for the insert. */
export const UPDATE_SYSTEM = `
  UPDATE smpp_systems SET system_id = $2, password_digest = $3, carrier = $4, bind_types = $5, allowed_cidrs = $6,
    max_connections = $7, submit_per_second = $8, tls_required = $9, trusted_for_mo = $10, default_alphabet = $11,
    retryable_mo_status = $12, enabled = $13, sender_format = $14,
    digest_version = CASE WHEN password_digest = $3 THEN digest_version ELSE $15 END
  WHERE id = $1 RETURNING ${SYSTEM}`;

/** Replaces the digest of a system's password. $1 id, $2 the digest that was read, $3 the new one, $4 its version. */
export const RENEW_SYSTEM_PASSWORD = `
  UPDATE smpp_systems SET password_digest = $3, digest_version = $4 WHERE id = $1 AND password_digest = $2`;

/** $1 id. */
export const DELETE_SYSTEM = `
  WITH unlearned AS (DELETE FROM sender_formats WHERE link_id = $1)
  DELETE FROM smpp_systems WHERE id = $1`;

/** Parameters as for the insert, then $24 generation. */
export const UPDATE_BIND = `
  UPDATE binds SET name = $2, carrier = $3, hosts = $4, tls = $5, system_id = $6, password_sealed = $7, system_type = $8,
    bind_type = $9, interface_version = $10, address_range = $11, send_window = $12, connections = $13,
    submit_per_second = $14, message_id_base = $15, temporary_statuses = $16, enquire_link_seconds = $17,
    response_timeout_seconds = $18, default_alphabet = $19, retryable_mo_status = $20, trusted_for_mo = $21,
    enabled = $22, sender_format = $23, generation = $24
  WHERE id = $1 RETURNING ${BIND}`;

/**
 * Deletes a bind, and the rows of connections without a holder, including those of binds deleted earlier: a
 * connection that is held is drained first. $1 id.
 */
export const DELETE_BIND = `
  WITH forgotten AS (
    DELETE FROM bind_connections AS c
    WHERE (c.owner IS NULL OR c.expires_at <= clock_timestamp())
      AND (c.bind_id = $1 OR NOT EXISTS (SELECT FROM binds WHERE id = c.bind_id))),
  unlearned AS (DELETE FROM sender_formats WHERE link_id = $1)
  DELETE FROM binds WHERE id = $1`;

/** $1 the name; returns it and the names derived from it that exist. */
export const LIST_NAMES_LIKE = `SELECT name FROM binds WHERE name = $1 OR starts_with(name, $1 || ' ')`;
