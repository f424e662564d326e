import type { Database } from '../database.js';
import type { Executor } from '../executor.js';
import type { DatabaseClock } from '../database-clock.js';
import { DatabaseUnavailable, DataError } from '../database-errors.js';
import { firstIdAt, newId } from '@countersign/ids';
import {
  DAY_MS,
  dayOf,
  DAYS_AHEAD,
  isoDate,
  isPastRetention,
  neededDays,
  PARTITION_NAME_PATTERN,
  PARTITIONED_TABLES,
  partitionName,
  partitionOf,
  type PartitionedTable,
} from '../partition-days.js';
import {
  DROP_PARTITION,
  FIND_UNFINISHED,
  LIST_DETACHED,
  LIST_PARTITIONS,
  MAKE_PARTITION,
  MOVE_RETENTION_CLOCK,
} from './partitions.sql.js';
import { PollLoop } from '@countersign/schedule';
import { RowLease } from '../row-lease.js';

const LEASE_NAME = 'partitions';
/** Longer than one step takes; after the lease holder was killed, others wait this long. */
const LEASE_TTL_MS = 10_000;
/** How long a process waits at boot for its partitions. */
const ENSURE_DEADLINE_MS = 30_000;
const RETRY_MS = 50;
/**
 * Finalizing a DETACH CONCURRENTLY of an earlier release waits for every transaction that still sees the partition.
 */
const DROP_TIMEOUT_MS = 60_000;
/** Number of attempts for a partition locked by others, with a pause in between; then the next hour. */
const DROP_TRIES = 20;
const DROP_RETRY_MS = 500;
/** lock_not_available (PostgreSQL, appendix A). */
const LOCK_NOT_AVAILABLE = '55P03';
/** As for readiness. */
const MAX_DRIFT_MS = 5_000;
const MAINTENANCE_PERIOD_MS = 3_600_000;
/** Between two runs for statements that found no partition. */
const MISSING_PERIOD_MS = 1_000;

interface Partition {
  partition: string;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const listPartitions = (database: Executor): Promise<Partition[]> =>
  database.query<Partition>(LIST_PARTITIONS, [PARTITIONED_TABLES]);

async function missingPartitions(
  database: Executor,
  nowMs: number,
): Promise<{ table: PartitionedTable; day: number }[]> {
  const present = new Set((await listPartitions(database)).map((each) => each.partition));
  return neededDays(nowMs)
    .flatMap((day) => PARTITIONED_TABLES.map((table) => ({ table, day })))
    .filter(({ table, day }) => !present.has(partitionName(table, day)));
}

/** The number of days after today for which every table has its partition; -1 without that of today. */
export async function partitionDaysAhead(database: Executor, nowMs: number): Promise<number> {
  const missing = new Set((await missingPartitions(database, nowMs)).map(({ day }) => day));
  const today = dayOf(nowMs);
  const first = neededDays(nowMs).find((day) => day >= today && missing.has(day));
  return (first ?? today + DAYS_AHEAD + 1) - today - 1;
}

async function addPartition(database: Database, table: PartitionedTable, day: number): Promise<void> {
  await database.query(MAKE_PARTITION, [table, isoDate(day)]);
}

/**
 * Creates missing partitions. A refusal is ignored when the partition exists afterwards: another process created it.
 */
async function addMissing(database: Database, nowMs: number, lease: RowLease): Promise<void> {
  for (const { table, day } of await missingPartitions(database, nowMs)) {
    if (!(await lease.acquire())) return;
    try {
      await addPartition(database, table, day);
    } catch (error) {
      const missing = await missingPartitions(database, nowMs);
      if (!(error instanceof DataError) || missing.some((each) => each.table === table && each.day === day))
        throw error;
    }
  }
}

/**
 * Creates the missing partitions of yesterday, today and the next 7 days in every partitioned table. Several
 * processes may call it concurrently; it returns when all partitions exist, whichever process created them.
 */
export async function ensurePartitions(database: Database, nowMs: number): Promise<void> {
  const deadlineMs = performance.now() + ENSURE_DEADLINE_MS;
  const lease = new RowLease(database, LEASE_NAME, newId(nowMs), LEASE_TTL_MS);
  while ((await missingPartitions(database, nowMs)).length > 0) {
    if (await lease.acquire()) {
      await addMissing(database, nowMs, lease).finally(() => lease.release());
    } else {
      if (performance.now() > deadlineMs)
        throw new DatabaseUnavailable('the partitions of today do not exist yet: another process is creating them');
      await pause(RETRY_MS);
    }
  }
}

/** Old partitions, and why others of old days are kept. */
interface OldPartitions {
  /** Attached ones first, in the order of LIST_PARTITIONS. */
  readonly droppable: readonly string[];
  readonly kept: readonly Error[];
}

/** Partitions whose whole day is past retention by the retention clock. Days with unfinished work are kept whole. */
async function oldPartitions(database: Executor, nowMs: number, retentionDays: number): Promise<OldPartitions> {
  const [clock] = await database.query<{ at: Date }>(MOVE_RETENTION_CLOCK, [new Date(nowMs)]);
  const trustedMs = Math.min(nowMs, clock?.at.getTime() ?? 0);
  const isOld = (name: string): boolean =>
    isPastRetention(partitionOf(name)?.day ?? Infinity, trustedMs, retentionDays);
  const attached = (await listPartitions(database)).map(({ partition }) => partition).filter(isOld);
  const detached = await database.query<Partition>(LIST_DETACHED, [PARTITION_NAME_PATTERN]);
  const days = new Set(attached.flatMap((name) => partitionOf(name)?.day ?? []));
  const busy = new Map<number, string>();
  for (const day of days) {
    const bounds = [firstIdAt(day * DAY_MS), firstIdAt((day + 1) * DAY_MS), new Date((day + 1) * DAY_MS)];
    const [found] = await database.query<{ work: string | null }>(FIND_UNFINISHED, bounds);
    if (found !== undefined && found.work !== null) busy.set(day, found.work);
  }
  const finished = attached.filter((name) => !busy.has(partitionOf(name)?.day ?? Infinity));
  return {
    droppable: [...finished, ...detached.map(({ partition }) => partition).filter(isOld)],
    kept: [...busy].map(([day, work]) => new Error(`data of ${isoDate(day)} is kept beyond retention: ${work}`)),
  };
}

/**
 * Retries while others hold its locks; each attempt waits 200 ms for them, and inserts are blocked no longer than
 * that.
 */
async function dropPartition(session: Executor, partition: string, retentionDays: number): Promise<void> {
  const { table, day } = partitionOf(partition) ?? {};
  if (table === undefined || day === undefined) throw new Error(`${partition} is not the name of a day partition`);
  for (let tries = 1; ; tries++) {
    try {
      await session.query(DROP_PARTITION, [table, isoDate(day), retentionDays]);
      return;
    } catch (error) {
      const isLocked = error instanceof DatabaseUnavailable && error.message.startsWith(LOCK_NOT_AVAILABLE);
      if (!isLocked || tries === DROP_TRIES) throw error;
      await pause(DROP_RETRY_MS);
    }
  }
}

/**
 * Drops the partitions whose whole day is more than `retentionDays` old, and returns their names. Blocks inserts into
 * the same table for at most 200 ms at a time. Does nothing while another process does it. The database refuses days
 * that are younger by its own clock (DROP_PARTITION); a clock that jumped is followed slowly (MOVE_RETENTION_CLOCK), and a day with
 * unfinished work is kept, with an error at the end.
 */
export async function dropOldPartitions(database: Database, nowMs: number, retentionDays: number): Promise<string[]> {
  const lease = new RowLease(database, LEASE_NAME, newId(nowMs), LEASE_TTL_MS);
  const dropped: string[] = [];
  const errors: unknown[] = [];
  if (!(await lease.acquire())) return dropped;
  try {
    await database.maintenance(DROP_TIMEOUT_MS, async (session) => {
      const { droppable, kept } = await oldPartitions(session, nowMs, retentionDays);
      errors.push(...kept);
      for (const partition of droppable) {
        if (!(await lease.acquire())) return;
        try {
          await dropPartition(session, partition, retentionDays);
          dropped.push(partition);
        } catch (error) {
          // Continues with the others; the first error is thrown at the end.
          errors.push(error);
        }
      }
    });
  } finally {
    await lease.release();
  }
  if (errors.length > 0) throw errors[0];
  return dropped;
}

export interface PartitionMaintainerOptions {
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, 'nowMs' | 'driftMs'>;
  /** Null where partitions are dropped by other processes. */
  readonly retentionDays: number | null;
  readonly onError: (error: unknown) => void;
}

/** Every hour, and when one is missing, creates new partitions, and drops old ones where it has a retention. At boot, ensurePartitions is called before serving. */
export class PartitionMaintainer {
  readonly #pollLoop: PollLoop;

  constructor({ database, clock, retentionDays, onError }: PartitionMaintainerOptions) {
    this.#pollLoop = new PollLoop({
      everyMs: MAINTENANCE_PERIOD_MS,
      work: async () => {
        await ensurePartitions(database, clock.nowMs());
        if (retentionDays === null) return false;
        if (Math.abs(clock.driftMs) > MAX_DRIFT_MS)
          throw new Error('no data is dropped while the clock of the database and that of this machine differ');
        await dropOldPartitions(database, clock.nowMs(), retentionDays);
        return false;
      },
      onError,
    });
    let nextMs = -Infinity;
    database.onMissingPartition(() => {
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + MISSING_PERIOD_MS;
      this.#pollLoop.trigger();
    });
  }

  async stop(): Promise<void> {
    await this.#pollLoop.stop();
  }
}
