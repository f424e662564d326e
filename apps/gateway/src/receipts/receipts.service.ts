import {
  canonicalId,
  type MtMessageStore,
  type ReceiptResult,
  type ReceiptRecord,
} from '@countersign/carriers/outbound';
import type { Uuid } from '@countersign/ids';
import { Batcher, type Database } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import type { MessageAnswer } from '@countersign/smpp/link';
import { parseReceipt } from '@countersign/smpp/messages';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../metrics/gateway.metrics.js';
import type { InboundLink } from '../links/inbound-link.js';
import { UnknownReceiptRate } from './unknown-receipt-rate.js';

const MAX_BATCHES_IN_FLIGHT = 2;
/** Maximum receipts waiting for a transaction; further ones get the link's retryable status. */
const MAX_QUEUED_RECEIPTS = 5_000;

export interface ReceiptsOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly mtMessages: Pick<MtMessageStore, 'applyReceipts'>;
  readonly maxBatch: number;
  /** Receives the event ids of a transaction after its commit. Must neither throw nor block. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * Processes a delivery receipt, from the PDU to the response. Receipts are matched by carrier, over any of its links.
 * The response is ESME_ROK after the commit, or at once for a receipt that is unreadable or not final; the link's
 * retryable status when the receipt could not be stored, or when its message is not known and the system that sent it
 * reports too many of these. A bind of ours has no such limit, since its carrier sends thousands before their responses.
 */
export class ReceiptsService {
  readonly #batcher: Batcher<ReceiptRecord, ReceiptResult>;
  readonly #unknownRate = new UnknownReceiptRate();
  readonly #report = throttled((err) =>
    this.o.logger.error({ err }, 'receipts could not be stored; the carrier is asked to resend'),
  );

  constructor(private readonly o: ReceiptsOptions) {
    this.#batcher = new Batcher({
      name: 'receipts',
      run: (notes) => this.storeReceipts(notes),
      keysOf: ({ carrier, smscMessageId }) => [JSON.stringify([carrier, canonicalId(smscMessageId)])],
      maxBatch: o.maxBatch,
      maxInFlight: MAX_BATCHES_IN_FLIGHT,
      maxQueued: MAX_QUEUED_RECEIPTS,
    });
  }

  /** Never rejects. A receipt that is not final, or names no message, is answered at once. */
  acceptReceipt(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const receipt = parseReceipt(pdu);
    if (receipt === null) {
      this.o.metrics.receipts.inc({ fate: 'unreadable', ...this.o.metrics.linkLabels(link) });
      this.o.metrics.orphanReceipts.inc();
      return { status: STATUS.ESME_ROK };
    }
    const { messageId: smscMessageId, state, networkError } = receipt;
    if (state === 'undecided') {
      this.o.metrics.receipts.inc({ fate: 'undecided', ...this.o.metrics.linkLabels(link) });
      return { status: STATUS.ESME_ROK };
    }
    const ofSystem = link.lease === undefined;
    const knownOnly = ofSystem && !this.#unknownRate.mayStore(link.id, performance.now());
    return this.#batcher.add({ carrier: link.carrier, smscMessageId, state, networkError, knownOnly }).then(
      (fate) => {
        this.o.metrics.receipts.inc({ fate, ...this.o.metrics.linkLabels(link) });
        if (ofSystem && fate === 'parked') this.#unknownRate.countUnknown(link.id, performance.now());
        return { status: fate === 'refused' ? link.retryableMoStatus : STATUS.ESME_ROK };
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  /** Resolves when every received receipt is answered. */
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  private async storeReceipts(notes: readonly ReceiptRecord[]): Promise<readonly ReceiptResult[]> {
    const { results, eventIds } = await this.o.database.transaction((tx) => this.o.mtMessages.applyReceipts(tx, notes));
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    return results;
  }

  private refuseForRetry(error: unknown, link: InboundLink): MessageAnswer {
    this.o.metrics.receipts.inc({ fate: 'sent_back', ...this.o.metrics.linkLabels(link) });
    this.#report(error);
    return { status: link.retryableMoStatus };
  }
}
