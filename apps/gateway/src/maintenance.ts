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
  /** Receives the number of receipts deleted because no message matched them. */
  readonly onOrphans: (count: number) => void;
  readonly logger: Logger;
}

/** Creates and drops partitions, and deletes incomplete long messages, unmatched receipts and old submissions. */
export class Maintenance {
  #partitions: PartitionMaintainer | undefined;
  #purge: PollLoop | undefined;

  constructor(private readonly o: MaintenanceOptions) {}

  /** Creates missing partitions before it returns: no row can be stored without them. */
  async start(): Promise<void> {
    const { database, clock, retentionDays, logger } = this.o;
    await ensurePartitions(database, clock.nowMs());
    const onError = (err: unknown): void => logger.warn({ err }, 'maintenance failed; retrying');
    this.#partitions = new PartitionMaintainer({ database, clock, retentionDays, onError });
    this.#purge = new PollLoop({ everyMs: PURGE_EVERY_MS, work: () => this.purge(), onError });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#partitions?.stop(), this.#purge?.stop()]);
  }

  /** Resolves to true when rows were deleted, so that the loop continues at once. */
  private async purge(): Promise<boolean> {
    const { database, concatenations, mtMessages, onOrphans } = this.o;
    const parts = await concatenations.purgeOld(database, PARTS_BELONG_SECONDS);
    const orphans = await mtMessages.purgeOrphans(database);
    onOrphans(orphans);
    return parts + orphans + (await mtMessages.purgeOld(database)) > 0;
  }
}
