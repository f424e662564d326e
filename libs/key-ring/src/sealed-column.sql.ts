import type { SealedColumn } from './sealed-column.js';

/**
 * The version with which a value is sealed: see `sealedVersion` of libs/keys. 0 for octets that are not a sealed
 * value.
 */
const VERSION = `CASE WHEN length(sealed) < 2 THEN 0 WHEN get_byte(sealed, 0) = 1 THEN 1 ELSE get_byte(sealed, 1) END`;

const valuesOf = ({ table, column, context, isList }: SealedColumn): string =>
  isList
    ? `SELECT id, ${context} AS context, sealed FROM ${table} CROSS JOIN LATERAL unnest(${column}) AS values (sealed)`
    : `SELECT id, ${context} AS context, ${column} AS sealed FROM ${table}`;

/** Those of some columns that the role may read. $1 tables, $2 their columns in the same order. */
export const LIST_READABLE = `
  SELECT place || '.' || part AS name FROM unnest($1::text[], $2::text[]) AS wanted (place, part)
  WHERE has_column_privilege(place, part, 'SELECT')`;

/** A few values of one version, in no order. $1 version, $2 how many at most. */
export const sampleValues = (column: SealedColumn): string => `
  SELECT id, context, sealed FROM (${valuesOf(column)}) AS known
  WHERE sealed IS NOT NULL AND ${VERSION} = $1 LIMIT $2`;

/** Number of values of one version. $1 version. */
export const countValues = (column: SealedColumn): string => `
  SELECT count(*)::int AS rows FROM (${valuesOf(column)}) AS known WHERE sealed IS NOT NULL AND ${VERSION} = $1`;

/** Values of one version in the order of their ids. $1 version, $2 the id before the page, $3 how many at most. */
export const pageOfVersion = (column: SealedColumn): string => `
  SELECT id, context, sealed FROM (${valuesOf(column)}) AS known
  WHERE id > $2 AND sealed IS NOT NULL AND ${VERSION} = $1 ORDER BY id LIMIT $3`;

/** Whether a value of one version exists. $1 version. */
export const hasValues = (column: SealedColumn): string => `
  SELECT EXISTS (SELECT FROM (${valuesOf(column)}) AS known WHERE sealed IS NOT NULL AND ${VERSION} = $1) AS "exists"`;

/** Larger than every value that a process seals. A larger one is not read: it would not open. */
const MAX_VALUE_OCTETS = 1_048_576;

const octetsOf = ({ column, isList }: SealedColumn): string =>
  `coalesce(${isList ? 'pg_column_size' : 'octet_length'}(${column}), 0)`;

/**
 * Values in one page of rows that have another version than wanted, and as its last row, with `sealed` null, the last
 * id of the page; no row after the last page. $1 the id before the page, $2 rows and $4 octets per page (beyond them the
 * row in which they are reached), $3 the wanted version.
 */
export const pageOfOutdated = (column: SealedColumn): string => `
  WITH page AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, sum(${octetsOf(column)}) OVER (ORDER BY id) - ${octetsOf(column)} AS octets_before
      FROM (SELECT * FROM ${column.table} WHERE id > $1 ORDER BY id LIMIT $2) AS rows) AS summed
    WHERE octets_before < $4)
  SELECT id, context, sealed FROM (${valuesOf({ ...column, table: 'page' })}) AS known
    WHERE sealed IS NOT NULL AND octet_length(sealed) <= ${MAX_VALUE_OCTETS} AND ${VERSION} <> $3
  UNION ALL (SELECT id, '', NULL FROM page ORDER BY id DESC LIMIT 1)`;

/**
 * Replaces values, each only if the row still has the one that was read, and returns the ids of the rows. $1 ids, $2
 * stored and $3 new values in the same order, $4 and $5 bounds of the ids.
 */
export const replaceValues = ({ table, column, isList }: SealedColumn): string => `
  UPDATE ${table} SET ${column} = ${isList ? `array_replace(${column}, renewed.stored, renewed.sealed)` : 'renewed.sealed'}
  FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS renewed (id, stored, sealed)
  WHERE ${table}.id = renewed.id AND ${table}.id = ANY ($1::uuid[]) AND ${table}.id BETWEEN $4 AND $5
    AND ${isList ? `renewed.stored = ANY (${column})` : `${column} = renewed.stored`}
  RETURNING ${table}.id`;
