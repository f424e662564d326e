import { setTimeout as after } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  canonicalId,
  type ReceiptRecord,
  type ReceiptResult,
  type ReportedMessage,
  type ReportedState,
} from '@countersign/carriers/outbound';
import { Batcher } from '@countersign/postgres';
import { KeyedTokenBuckets, throttled } from '@countersign/resilience';
import { GatewaySettings } from '@countersign/settings';
import type { MessageAnswer } from '@countersign/smpp/link';
import type { DeliveryReceipt } from '@countersign/smpp/messages';
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
 * Waits before a receipt by its text alone is looked up again, while a submit to its phone has no recorded response; in
 * all less than a carrier waits for an answer.
 */
const LOOK_AGAIN_MS = [50, 150, 500, 1_500] as const;
/** Maximum receipts in these waits; further ones get the link's retryable status. */
const MAX_LOOKING_AGAIN = 1_000;

/**
 * Processes a delivery receipt, from the PDU to the response. Receipts are matched by carrier, over any of its links.
 * The response is ESME_ROK after the commit, or at once for a receipt that is unreadable or not final; the link's
 * retryable status when the receipt could not be stored, or when its message is not known and the system that sent it
 * reports too many of these. A bind of ours has no such limit, since its carrier sends thousands before their responses.
 */
@Injectable()
export class ReceiptsService {
  readonly #batcher: Batcher<ReceiptRecord, ReceiptResult>;
  readonly #lookups: Batcher<ReportedMessage, ReportedState>;
  #lookingAgain = 0;
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
    this.#lookups = new Batcher({
      name: 'reported messages',
      run: (receipts) => batch.findReported(receipts),
      keysOf: () => [],
      limits: { maxBatch, maxInFlight: MAX_BATCHES_IN_FLIGHT, maxQueued: MAX_QUEUED_RECEIPTS },
    });
  }

  /**
   * Processes a message that is a receipt by its text alone, if it names a message of this carrier to its phone; else null:
   * it is an MO. So a phone's user who writes a receipt settles at most a message to that phone, and parks none. Never
   * rejects.
   */
  async acceptTextReceipt(pdu: MessagePdu, receipt: DeliveryReceipt, link: InboundLink): Promise<MessageAnswer | null> {
    const { sourceAddress, destinationAddress } = pdu.fields;
    const reported = {
      carrier: link.carrier,
      smscMessageId: receipt.messageId,
      source: sourceAddress.value,
      destination: destinationAddress.value,
    };
    const isOfSystem = link.lease === undefined;
    if (isOfSystem && this.#ofSystems >= MAX_QUEUED_OF_SYSTEMS) return this.sendBack(link);
    if (isOfSystem) this.#ofSystems += 1;
    const state = await this.findReported(reported)
      .catch((error: unknown) => error)
      .finally(() => {
        if (isOfSystem) this.#ofSystems -= 1;
      });
    if (state === 'unknown') return null;
    if (state === 'submitted') return this.acceptReceipt(receipt, link);
    return state === 'sending' ? this.sendBack(link) : this.refuseForRetry(state, link);
  }

  /** Never rejects. A receipt that is not final, or names no message (null), is answered at once. */
  acceptReceipt(receipt: DeliveryReceipt | null, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
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
  async drain(): Promise<void> {
    await this.#lookups.drain();
    await this.#batcher.drain();
  }

  /** Looks up again while the message may be one whose response is not recorded yet: receipts may precede it. */
  private async findReported(reported: ReportedMessage): Promise<ReportedState> {
    let state = await this.#lookups.add(reported);
    for (const waitMs of LOOK_AGAIN_MS) {
      if (state !== 'sending' || this.#lookingAgain >= MAX_LOOKING_AGAIN) return state;
      this.#lookingAgain += 1;
      await after(waitMs);
      this.#lookingAgain -= 1;
      state = await this.#lookups.add(reported);
    }
    return state;
  }

  private storeOfSystem(
    record: Omit<ReceiptRecord, 'knownOnly'>,
    link: InboundLink,
  ): Promise<MessageAnswer> | MessageAnswer {
    if (this.#ofSystems >= MAX_QUEUED_OF_SYSTEMS) return this.sendBack(link);
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
    this.#report(error);
    return this.sendBack(link);
  }

  private sendBack(link: InboundLink): MessageAnswer {
    this.metrics.receipts.inc({ fate: 'sent_back', ...this.links.labelsOf(link) });
    return { status: link.retryableMoStatus };
  }
}
