import { Inject, Injectable } from '@nestjs/common';
import { canonicalId, type ReceiptRecord, type ReceiptResult } from '@countersign/carriers/outbound';
import { Batcher } from '@countersign/postgres';
import { KeyedTokenBuckets, throttled } from '@countersign/resilience';
import { GatewaySettings } from '@countersign/settings';
import type { MessageAnswer } from '@countersign/smpp/link';
import { parseReceipt } from '@countersign/smpp/messages';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStop } from '../composition/phases.js';
import type { InboundLink } from '../links/inbound-link.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { ReceiptBatch } from './receipt-batch.js';
import { ReceiptMetrics } from './receipt.metrics.js';

const MAX_BATCHES_IN_FLIGHT = 2;
/** Receipts of one system whose message is not known: each is a row for ten minutes. */
const UNKNOWN_RECEIPTS = { perSecond: 100, burstSeconds: 2, maxKeys: 10_000 } as const;
/** Maximum receipts waiting for a transaction; further ones get the link's retryable status. */
const MAX_QUEUED_RECEIPTS = 5_000;
/** Of these, maximum receipts of systems that connect in: receipts of one id are stored one after the other. */
const MAX_QUEUED_OF_SYSTEMS = MAX_QUEUED_RECEIPTS / 2;

/**
 * Processes a delivery receipt, from the PDU to the response. Receipts are matched by carrier, over any of its links.
 * The response is ESME_ROK after the commit, or at once for a receipt that is unreadable or not final; the link's
 * retryable status when the receipt could not be stored, or when its message is not known and the system that sent it
 * reports too many of these. A bind of ours has no such limit, since its carrier sends thousands before their responses.
 */
@Injectable()
export class ReceiptsService {
  readonly #batcher: Batcher<ReceiptRecord, ReceiptResult>;
  /**
   * Receipts of one system whose message is not known. They are counted once their result is known, so those in flight may
   * exceed the burst; the excess delays the next ones. Receipts of known messages cost nothing.
   */
  readonly #unknownRate = new KeyedTokenBuckets(UNKNOWN_RECEIPTS);
  /** Receipts of systems that are not answered yet. */
  #ofSystems = 0;
  readonly #report = throttled((err) =>
    this.logger.error({ err }, 'receipts could not be stored; the carrier is asked to resend'),
  );

  constructor(
    batch: ReceiptBatch,
    private readonly metrics: ReceiptMetrics,
    private readonly links: LinkMetrics,
    { batchMaxCommands: maxBatch }: GatewaySettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.#batcher = new Batcher({
      name: 'receipts',
      run: (receipts) => batch.storeReceipts(receipts),
      keysOf: ({ carrier, smscMessageId }) => [JSON.stringify([carrier, canonicalId(smscMessageId)])],
      limits: { maxBatch, maxInFlight: MAX_BATCHES_IN_FLIGHT, maxQueued: MAX_QUEUED_RECEIPTS },
    });
  }

  /** Never rejects. A receipt that is not final, or names no message, is answered at once. */
  acceptReceipt(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const receipt = parseReceipt(pdu);
    if (receipt === null) {
      this.metrics.receipts.inc({ fate: 'unreadable', ...this.links.labelsOf(link) });
      this.metrics.orphans.inc();
      return { status: STATUS.ESME_ROK };
    }
    const { messageId: smscMessageId, state, networkError } = receipt;
    if (state === 'undecided') {
      this.metrics.receipts.inc({ fate: 'undecided', ...this.links.labelsOf(link) });
      return { status: STATUS.ESME_ROK };
    }
    const record = { carrier: link.carrier, smscMessageId, state, networkError };
    return link.lease === undefined
      ? this.storeOfSystem(record, link)
      : this.store({ ...record, knownOnly: false }, link);
  }

  /** Resolves when every received receipt is answered. */
  @OnStop('drain batchers')
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  private storeOfSystem(
    record: Omit<ReceiptRecord, 'knownOnly'>,
    link: InboundLink,
  ): Promise<MessageAnswer> | MessageAnswer {
    if (this.#ofSystems >= MAX_QUEUED_OF_SYSTEMS) {
      this.metrics.receipts.inc({ fate: 'sent_back', ...this.links.labelsOf(link) });
      return { status: link.retryableMoStatus };
    }
    this.#ofSystems += 1;
    const knownOnly = this.#unknownRate.waitMs(link.id, performance.now()) > 0;
    return this.store({ ...record, knownOnly }, link).finally(() => {
      this.#ofSystems -= 1;
    });
  }

  private store(record: ReceiptRecord, link: InboundLink): Promise<MessageAnswer> {
    return this.#batcher.add(record).then(
      (fate) => {
        this.metrics.receipts.inc({ fate, ...this.links.labelsOf(link) });
        if (link.lease === undefined && fate === 'parked') this.#unknownRate.take(link.id, performance.now());
        return { status: fate === 'refused' ? link.retryableMoStatus : STATUS.ESME_ROK };
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  private refuseForRetry(error: unknown, link: InboundLink): MessageAnswer {
    this.metrics.receipts.inc({ fate: 'sent_back', ...this.links.labelsOf(link) });
    this.#report(error);
    return { status: link.retryableMoStatus };
  }
}
