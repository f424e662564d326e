import { Inject, Injectable } from '@nestjs/common';
import { ConcatenationStore, PARTS_BELONG_SECONDS } from '@countersign/carriers/inbound';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../composition/phases.js';
import { ReceiptMetrics } from '../receipts/receipt.metrics.js';

const PURGE_EVERY_MS = 60_000;

/** Deletes incomplete long messages, unmatched receipts and old submissions. */
@Injectable()
export class RowPurge {
  #pollLoop: PollLoop | undefined;

  constructor(
    private readonly database: Database,
    private readonly concatenations: ConcatenationStore,
    private readonly mtMessages: MtMessageStore,
    private readonly metrics: ReceiptMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @OnStart('create partitions')
  start(): void {
    const onError = (err: unknown): void =>
      this.logger.warn({ err }, 'row purge: old rows could not be deleted; retrying');
    this.#pollLoop = new PollLoop({ everyMs: PURGE_EVERY_MS, work: () => this.purge(), onError });
  }

  @OnStop('stop maintenance')
  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
  }

  /** Resolves to true when rows were deleted, so that the loop continues at once. */
  private async purge(): Promise<boolean> {
    const { database, concatenations, mtMessages } = this;
    const parts = await concatenations.purgeOld(database, PARTS_BELONG_SECONDS);
    const orphans = await mtMessages.purgeOrphans(database);
    this.metrics.orphans.inc(orphans);
    return parts + orphans + (await mtMessages.purgeOld(database)) > 0;
  }
}
