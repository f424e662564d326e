import type { Database, Executor } from '../database.js';
import type { DatabaseClock } from '../database-clock.js';
import { DatabaseUnavailable, DataError } from '../database-errors.js';
import { newId } from '@countersign/ids';
import {
  isoDate,
  isPastRetention,
  neededDays,
  PARTITION_NAME_PATTERN,
  PARTITIONED_TABLES,
  partitionName,
  partitionOf,
  type PartitionedTable,
} from './partition-days.js';
import { DROP_PARTITION, LIST_DETACHED, LIST_PARTITIONS, MAKE_PARTITION } from './partitions.sql.js';
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
const MAINTENANCE_PERIOD_MS = 3_600_000;

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

/** Partitions whose whole day is past retention: attached ones first, in the order of LIST_PARTITIONS. */
async function oldPartitions(database: Executor, nowMs: number, retentionDays: number): Promise<string[]> {
  const attached = await listPartitions(database);
  const detached = await database.query<Partition>(LIST_DETACHED, [PARTITION_NAME_PATTERN]);
  return [...attached, ...detached]
    .map(({ partition }) => partition)
    .filter((name) => isPastRetention(partitionOf(name)?.day ?? Infinity, nowMs, retentionDays));
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
 * that are younger by its own clock (DROP_PARTITION).
 */
export async function dropOldPartitions(database: Database, nowMs: number, retentionDays: number): Promise<string[]> {
  const lease = new RowLease(database, LEASE_NAME, newId(nowMs), LEASE_TTL_MS);
  const dropped: string[] = [];
  const errors: unknown[] = [];
  if (!(await lease.acquire())) return dropped;
  try {
    await database.maintenance(DROP_TIMEOUT_MS, async (session) => {
      for (const partition of await oldPartitions(session, nowMs, retentionDays)) {
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
  readonly clock: DatabaseClock;
  /** Null where partitions are dropped by other processes. */
  readonly retentionDays: number | null;
  readonly onError: (error: unknown) => void;
}

/** Every hour creates new partitions, and drops old ones where it has a retention. At boot, ensurePartitions is called before serving. */
export class PartitionMaintainer {
  readonly #pollLoop: PollLoop;

  constructor({ database, clock, retentionDays, onError }: PartitionMaintainerOptions) {
    this.#pollLoop = new PollLoop({
      everyMs: MAINTENANCE_PERIOD_MS,
      work: async () => {
        await ensurePartitions(database, clock.nowMs());
        if (retentionDays !== null) await dropOldPartitions(database, clock.nowMs(), retentionDays);
        return false;
      },
      onError,
    });
  }

  async stop(): Promise<void> {
    await this.#pollLoop.stop();
  }
}
