import { PARTS_BELONG_SECONDS, type ConcatenationStore } from '@countersign/carriers';
import { ensurePartitions, PartitionKeeper, Periodic, type Database, type DatabaseClock } from '@countersign/postgres';
import type { Logger } from '@countersign/telemetry';

const PURGE_EVERY_MS = 60_000;

export interface HousekeepingOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly concatenations: ConcatenationStore;
  readonly retentionDays: number;
  readonly logger: Logger;
}

/** What is to be done now and then: partitions ahead of the days, and long messages that never became whole. */
export class Housekeeping {
  #partitions: PartitionKeeper | undefined;
  #purge: Periodic | undefined;

  constructor(private readonly o: HousekeepingOptions) {}

  /** Makes the partitions that are missing before it returns: nothing can be stored without them. */
  async start(): Promise<void> {
    const { database, clock, concatenations, retentionDays, logger } = this.o;
    await ensurePartitions(database, clock.nowMs());
    const onError = (err: unknown): void => logger.warn({ err }, 'housekeeping failed, and is tried again');
    this.#partitions = new PartitionKeeper({ database, clock, retentionDays, onError });
    this.#purge = new Periodic({
      everyMs: PURGE_EVERY_MS,
      work: async () => (await concatenations.purgeOld(database, PARTS_BELONG_SECONDS)) > 0,
      onError,
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#partitions?.stop(), this.#purge?.stop()]);
  }
}
