import { firstIdAt } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import type { ServerKeys } from '@countersign/keys';
import {
  nameOf,
  opens,
  type KeyDependants,
  type SealedColumn,
  type SealedRow,
  type VersionedRows,
} from './sealed-column.js';
import { countValues, hasValues, pageOfVersion } from './sealed-column.sql.js';

/** Timeout for counting all rows of one table. */
const COUNT_TIMEOUT_MS = 600_000;
const RECENT_MS = 25 * 60 * 60 * 1000;
/** Values that are read and opened at a time. */
const PAGE_VALUES = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const READ_CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/** Rows that depend on one version of the master key. */
export interface KeyNeed {
  /** A table, or a column of it. */
  readonly name: string;
  readonly rows: number;
  /** Values that name the version and do not open with it, in columns that gateways write. Not among `rows`. */
  readonly unopened: number;
  readonly gatewaysWrite: boolean;
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

/**
 * Every table that may depend on the version, with 0 rows if none does. Values of columns that gateways write are opened
 * where `keys` lists the version; otherwise they are counted by the version that they name. Reads whole tables: not for a
 * request.
 */
export function listNeeds(
  database: Maintained,
  dependants: KeyDependants,
  version: number,
  keys: ServerKeys | null = null,
): Promise<KeyNeed[]> {
  return database.maintenance(COUNT_TIMEOUT_MS, async (session) => {
    const needs: KeyNeed[] = [];
    for (const column of dependants.columns) {
      const { gatewaysWrite } = column;
      const opening = gatewaysWrite && keys?.has(version) === true ? keys : null;
      const counted = await countColumn(session, column, version, opening);
      const renewal = 'sealed again in the background';
      needs.push({ name: nameOf(column), ...counted, gatewaysWrite, isNeeded: true, endsAt: null, renewal });
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

async function countColumn(
  session: Executor,
  column: SealedColumn,
  version: number,
  keys: ServerKeys | null,
): Promise<Pick<KeyNeed, 'rows' | 'unopened'>> {
  if (keys === null) {
    const [counted] = await session.query<{ rows: number }>(countValues(column), [version]);
    return { rows: counted?.rows ?? 0, unopened: 0 };
  }
  let [rows, unopened, after] = [0, 0, BEFORE_ALL];
  for (;;) {
    const page = await session.query<SealedRow>(pageOfVersion(column), [version, after, PAGE_VALUES]);
    const opened = page.filter(({ sealed, context }) => opens(keys, column, sealed, context)).length;
    rows += opened;
    unopened += page.length - opened;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_VALUES) return { rows, unopened };
    after = last.id;
  }
}

async function needOf(
  session: Executor,
  { name, count, isNeeded, gatewaysWrite, livesSeconds, renewal }: VersionedRows,
  version: number,
): Promise<KeyNeed> {
  const [clock] = await session.query<{ nowMs: number }>(READ_CLOCK);
  const low = firstIdAt((clock?.nowMs ?? Date.now()) - RECENT_MS);
  const [counted] = await session.query<Counted>(count, [version, low]);
  const { rows, newestAt } = counted ?? { rows: 0, newestAt: null };
  const endsAt = livesSeconds === null || newestAt === null ? null : new Date(newestAt.getTime() + livesSeconds * 1000);
  return { name, rows, unopened: 0, gatewaysWrite, isNeeded, endsAt, renewal };
}
