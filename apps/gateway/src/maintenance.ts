import { PARTS_BELONG_SECONDS, type ConcatenationStore } from '@countersign/carriers/inbound';
import type { MtMessageStore } from '@countersign/carriers/outbound';
import type { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions, PartitionMaintainer } from '@countersign/postgres/partitions';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';

const PURGE_EVERY_MS = 60_000;

export interface MaintenanceOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly concatenations: ConcatenationStore;
  readonly mtMessages: Pick<MtMessageStore, 'purgeOrphans' | 'purgeOld'>;
  readonly retentionDays: number;
  /** Told of receipts that were nobody's, once they are forgotten. */
  readonly onOrphans: (count: number) => void;
  readonly logger: Logger;
}

/** What is to be done now and then: partitions ahead of the days, what never became whole, what was nobody's. */
export class Maintenance {
  #partitions: PartitionMaintainer | undefined;
  #purge: PollLoop | undefined;

  constructor(private readonly o: MaintenanceOptions) {}

  /** Makes the partitions that are missing before it returns: nothing can be stored without them. */
  async start(): Promise<void> {
    const { database, clock, retentionDays, logger } = this.o;
    await ensurePartitions(database, clock.nowMs());
    const onError = (err: unknown): void => logger.warn({ err }, 'housekeeping failed, and is tried again');
    this.#partitions = new PartitionMaintainer({ database, clock, retentionDays, onError });
    this.#purge = new PollLoop({ everyMs: PURGE_EVERY_MS, work: () => this.purge(), onError });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#partitions?.stop(), this.#purge?.stop()]);
  }

  /** True when more is waiting. */
  private async purge(): Promise<boolean> {
    const { database, concatenations, mtMessages: ledger, onOrphans } = this.o;
    const parts = await concatenations.purgeOld(database, PARTS_BELONG_SECONDS);
    const orphans = await ledger.purgeOrphans(database);
    onOrphans(orphans);
    return parts + orphans + (await ledger.purgeOld(database)) > 0;
  }
}
