import {
  canonicalId,
  type MtMessageStore,
  type ReceiptResult,
  type ReceiptRecord,
} from '@countersign/carriers/outbound';
import type { Uuid } from '@countersign/ids';
import { Batcher, type Database } from '@countersign/postgres';
import type { MessageAnswer } from '@countersign/smpp/link';
import { parseReceipt } from '@countersign/smpp/messages';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../metrics/gateway.metrics.js';
import type { InboundLink } from '../links/inbound-link.js';

const MAX_BATCHES_IN_FLIGHT = 2;
/** Receipts that wait for a transaction at most; beyond it carriers are asked to send again. */
const MAX_QUEUED_RECEIPTS = 5_000;
const REPORT_EVERY_MS = 1_000;

export interface ReceiptsOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly ledger: Pick<MtMessageStore, 'applyReceipts'>;
  readonly maxBatch: number;
  /** Told after the commit which events it holds. Must neither throw nor wait. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * The way of a delivery receipt: from the PDU to its answer. It counts over whichever link of its carrier it comes.
 * Answered ESME_ROK once what it says is committed, or where it says nothing; else the carrier is asked to send it again.
 */
export class ReceiptsService {
  readonly #batcher: Batcher<ReceiptRecord, ReceiptResult>;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly o: ReceiptsOptions) {
    this.#batcher = new Batcher({
      name: 'receipts',
      run: (notes) => this.receive(notes),
      keysOf: ({ carrier, smscMessageId }) => [JSON.stringify([carrier, canonicalId(smscMessageId)])],
      maxBatch: o.maxBatch,
      maxInFlight: MAX_BATCHES_IN_FLIGHT,
      maxQueued: MAX_QUEUED_RECEIPTS,
    });
  }

  /** Never rejects. One that is not the last word, or names no message, is answered at once. */
  accept(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const receipt = parseReceipt(pdu);
    if (receipt === null) {
      this.o.metrics.receipts.inc({ fate: 'unreadable', ...this.o.metrics.whose(link) });
      this.o.metrics.orphanReceipts.inc();
      return { status: STATUS.ESME_ROK };
    }
    const { messageId: smscMessageId, state, networkError } = receipt;
    if (state === 'undecided') {
      this.o.metrics.receipts.inc({ fate: 'undecided', ...this.o.metrics.whose(link) });
      return { status: STATUS.ESME_ROK };
    }
    return this.#batcher.add({ carrier: link.carrier, smscMessageId, state, networkError }).then(
      (fate) => {
        this.o.metrics.receipts.inc({ fate, ...this.o.metrics.whose(link) });
        return { status: STATUS.ESME_ROK };
      },
      (error: unknown) => this.sendAgain(error, link),
    );
  }

  /** Resolves once every receipt that came in is answered. */
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  private async receive(notes: readonly ReceiptRecord[]): Promise<readonly ReceiptResult[]> {
    const { results, eventIds } = await this.o.database.transaction((tx) => this.o.ledger.applyReceipts(tx, notes));
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    return results;
  }

  private sendAgain(error: unknown, link: InboundLink): MessageAnswer {
    this.o.metrics.receipts.inc({ fate: 'sent_back', ...this.o.metrics.whose(link) });
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs >= REPORT_EVERY_MS) {
      this.#reportedMs = nowMs;
      this.o.logger.error({ err: error }, 'receipts could not be stored and are asked for again');
    }
    return { status: link.retryableMoStatus };
  }
}
