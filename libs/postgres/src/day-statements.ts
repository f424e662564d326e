import { idTimeMs } from '@countersign/ids';
import { dayOf, partitionName, type PartitionedTable } from './partition-days.js';
import { statementName } from './prepared-statements.js';

/** Statements are kept for the days next to today only: ids of other days, which any caller may send, are rare. */
const KEPT_DAYS = 1;

interface Declared {
  readonly table: PartitionedTable;
  readonly text: (table: string) => string;
  /** Indexes of the parameters that hold ids, or bounds of them. */
  readonly ids: readonly number[];
  /** By day, the latest last. */
  readonly byDay: Map<number, DayStatement>;
}

/** A statement on one partition. */
export interface DayStatement {
  readonly name: string;
  readonly text: string;
  readonly partition: string;
}

const declared = new Map<string, Declared>();

/**
 * Declares a frequent statement on rows of a partitioned table that are mostly of one day. For rows of yesterday, today or
 * tomorrow, once the partition is large, it runs with the partition in place of the table, and each connection keeps it:
 * PostgreSQL does not parse it again, nor plan it, and locks one partition. A kept plan for the table would lock all partitions.
 *
 * The plan is kept while the partition grows. A condition that a partial index has, such as `status = 'pending'`, is written so
 * that no index serves it: its index may be empty when the plan is made.
 *
 * @param text of the table, or of a partition with the alias of the table: `sessions_p20251121 AS sessions`
 * @param ids numbers of the parameters that hold ids of the rows, or bounds of them: where all are of one day, so are the rows
 * @returns the text for the table
 */
export function onDays(table: PartitionedTable, ids: readonly number[], text: (table: string) => string): string {
  const general = text(table);
  declared.set(general, { table, text, ids: ids.map((number) => number - 1), byDay: new Map() });
  return general;
}

/** Whether the text was declared by `onDays`. */
export const isOnDays = (general: string): boolean => declared.has(general);

/** The statement for the day of these values; undefined where their rows may be of several days, or of another time. */
export function dayStatement(general: string, values: readonly unknown[], nowMs: number): DayStatement | undefined {
  const statement = declared.get(general);
  if (statement === undefined) return undefined;
  const day = commonDay(statement.ids.map((index) => values[index]));
  if (day === null || Math.abs(day - dayOf(nowMs)) > KEPT_DAYS) return undefined;
  return statement.byDay.get(day) ?? keep(statement, day);
}

function keep({ table, text, byDay }: Declared, day: number): DayStatement {
  const partition = partitionName(table, day);
  const named = text(`${partition} AS ${table}`);
  const kept = { name: statementName(named), text: named, partition };
  byDay.set(day, kept);
  for (const [old] of byDay) if (old < day - 2 * KEPT_DAYS) byDay.delete(old);
  return kept;
}

/** The day of all ids; null without ids, and for ids of several days. */
function commonDay(values: readonly unknown[]): number | null {
  let day: number | null = null;
  for (const value of values) {
    for (const id of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const found = typeof id === 'string' ? dayOf(idTimeMs(id)) : null;
      if (found === null || (day !== null && found !== day)) return null;
      day = found;
    }
  }
  return day;
}
