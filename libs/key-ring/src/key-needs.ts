import { firstIdAt } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import { nameOf, type KeyDependants, type VersionedRows } from './sealed-column.js';
import { countValues, hasValues } from './sealed-column.sql.js';

/** Timeout for counting all rows of one table. */
const COUNT_TIMEOUT_MS = 600_000;
const RECENT_MS = 25 * 60 * 60 * 1000;
const READ_CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/** Rows that depend on one version of the master key. */
export interface KeyNeed {
  /** A table, or a column of it. */
  readonly name: string;
  readonly rows: number;
  /** Whether no process may start without the version while such rows exist. */
  readonly isNeeded: boolean;
  /** When the last of these rows expires; null for rows that do not. */
  readonly endsAt: Date | null;
  readonly renewal: string;
}

type Maintained = Pick<Database, 'maintenance'>;

interface Counted {
  readonly rows: number;
  readonly newestAt: Date | null;
}

/** Every table that may depend on the version, with 0 rows if none does. Reads whole tables: not for a request. */
export function listNeeds(database: Maintained, dependants: KeyDependants, version: number): Promise<KeyNeed[]> {
  return database.maintenance(COUNT_TIMEOUT_MS, async (session) => {
    const needs: KeyNeed[] = [];
    for (const column of dependants.columns) {
      const [counted] = await session.query<{ rows: number }>(countValues(column), [version]);
      const renewal = 'sealed again in the background';
      needs.push({ name: nameOf(column), rows: counted?.rows ?? 0, isNeeded: true, endsAt: null, renewal });
    }
    for (const rows of dependants.rows) needs.push(await needOf(session, rows, version));
    return needs;
  });
}

/** The first table found with rows that would be lost without the version; null for none. */
export function firstNeed(database: Maintained, dependants: KeyDependants, version: number): Promise<string | null> {
  return database.maintenance(COUNT_TIMEOUT_MS, async (session) => {
    for (const rows of dependants.rows.filter(({ isNeeded }) => isNeeded)) {
      if ((await needOf(session, rows, version)).rows > 0) return rows.name;
    }
    for (const column of dependants.columns) {
      const [found] = await session.query<{ exists: boolean }>(hasValues(column), [version]);
      if (found?.exists === true) return nameOf(column);
    }
    return null;
  });
}

async function needOf(
  session: Executor,
  { name, count, isNeeded, livesSeconds, renewal }: VersionedRows,
  version: number,
): Promise<KeyNeed> {
  const [clock] = await session.query<{ nowMs: number }>(READ_CLOCK);
  const low = firstIdAt((clock?.nowMs ?? Date.now()) - RECENT_MS);
  const [counted] = await session.query<Counted>(count, [version, low]);
  const { rows, newestAt } = counted ?? { rows: 0, newestAt: null };
  const endsAt = livesSeconds === null || newestAt === null ? null : new Date(newestAt.getTime() + livesSeconds * 1000);
  return { name, rows, isNeeded, endsAt, renewal };
}
