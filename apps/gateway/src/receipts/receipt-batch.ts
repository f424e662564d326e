import { JobNotifier } from '@countersign/bus';
import { MtMessageStore, type ReceiptRecord, type ReceiptResult } from '@countersign/carriers/outbound';
import { Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';

/** Stores a set of receipts in one transaction. */
@Injectable()
export class ReceiptBatch {
  constructor(
    private readonly database: Database,
    private readonly mtMessages: MtMessageStore,
    private readonly notifier: JobNotifier,
  ) {}

  /** Resolves after the commit with one result per receipt, in order. */
  async storeReceipts(receipts: readonly ReceiptRecord[]): Promise<readonly ReceiptResult[]> {
    const { results, eventIds } = await this.database.transaction((tx) => this.mtMessages.applyReceipts(tx, receipts));
    if (eventIds.length > 0) this.notifier.notify(eventIds);
    return results;
  }
}
