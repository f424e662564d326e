import type { ServerKeys } from '@countersign/keys';
import type { Database } from '@countersign/postgres';
import { RETIRE_CHECKS, REVIVE_CHECKS } from './key-check.sql.js';
import { firstNeed } from './key-needs.js';
import { byWriter, type KeyDependants } from './sealed-column.js';

export interface FinishedPass {
  readonly keys: ServerKeys;
  /** All dependants, not those of one process alone. */
  readonly dependants: KeyDependants;
  /** Versions of values that opened in the pass of the resealer. */
  readonly opened: ReadonlySet<number>;
}

/**
 * Call after a whole pass of the resealer, in a process that may record keys. Marks the listed versions below the current
 * one that nothing needs as retired, and removes the mark from the others; resolves to those newly marked. The pass tried
 * every sealed value, so a value that still names such a version in a column that gateways write does not open with it. It does
 * not count as a need: otherwise a client with the role of gateways could keep a version needed without having its key. Later
 * versions stay unmarked, because their rotation has not begun.
 */
export async function recordRotationEnd(
  database: Database,
  { keys, dependants, opened }: FinishedPass,
): Promise<readonly number[]> {
  const tried = { columns: byWriter(dependants).controlPlanes.columns, rows: dependants.rows };
  const needed: number[] = [];
  const unneeded: number[] = [];
  for (const version of keys.versions.filter((each) => each < keys.currentVersion)) {
    const isNeeded = opened.has(version) || (await firstNeed(database, tried, version)) !== null;
    (isNeeded ? needed : unneeded).push(version);
  }
  if (needed.length > 0) await database.query(REVIVE_CHECKS, ['master', needed]);
  if (unneeded.length === 0) return [];
  const retired = await database.query<{ version: number }>(RETIRE_CHECKS, ['master', unneeded]);
  return retired.map(({ version }) => version);
}
