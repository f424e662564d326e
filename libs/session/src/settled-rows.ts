import { idBounds } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { FIND_SETTLED_SESSIONS, type TimedRow } from './session.sql.js';

/**
 * The rows, in their order; those that are about to be shown as expired are read again once no transaction is changing them, so
 * that nobody who saw a session expired sees it approved later. The sweeper ends such a session within about a second, so few are
 * read twice.
 */
export async function settledRows(
  database: Pick<Database, 'query'>,
  rows: readonly TimedRow[],
): Promise<readonly TimedRow[]> {
  const overdue = rows.filter(({ status, expiresAt, now }) => status === 'pending' && expiresAt <= now);
  if (overdue.length === 0) return rows;
  const ids = overdue.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const again = await database.query<TimedRow>(FIND_SETTLED_SESSIONS, [ids, low, high]);
  const byId = new Map(again.map((row) => [row.id, row]));
  return rows.map((row) => byId.get(row.id) ?? row);
}
