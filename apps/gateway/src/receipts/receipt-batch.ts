import { JobNotifier } from '@countersign/bus';
import {
  MtMessageStore,
  ReportedMessageStore,
  type ReceiptRecord,
  type ReceiptResult,
  type ReportedMessage,
  type ReportedState,
} from '@countersign/carriers/outbound';
import { Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';

/** Stores a set of receipts in one transaction, and finds the messages that receipts name. */
@Injectable()
export class ReceiptBatch {
  constructor(
    private readonly database: Database,
    private readonly mtMessages: MtMessageStore,
    private readonly reported: ReportedMessageStore,
    private readonly notifier: JobNotifier,
  ) {}

  /** One state per receipt, in order. */
  findReported(receipts: readonly ReportedMessage[]): Promise<readonly ReportedState[]> {
    return this.reported.findReported(this.database, receipts);
  }

  /** Resolves after the commit with one result per receipt, in order. */
  async storeReceipts(receipts: readonly ReceiptRecord[]): Promise<readonly ReceiptResult[]> {
    const { results, eventIds } = await this.database.transaction((tx) => this.mtMessages.applyReceipts(tx, receipts));
    if (eventIds.length > 0) this.notifier.notify(eventIds);
    return results;
  }
}
