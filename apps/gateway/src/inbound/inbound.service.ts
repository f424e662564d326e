import { renderId } from '@countersign/ids';
import { Batcher, BatcherFull, DatabaseUnavailable, type DatabaseClock } from '@countersign/postgres';
import type { InboundVerdict } from '@countersign/session/rules';
import type { MessageAnswer } from '@countersign/smpp/link';
import { messageKind } from '@countersign/smpp/messages';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../metrics/gateway.metrics.js';
import type { InboundBatch } from './inbound-batch.js';
import { inboundCommand, type InboundCommand } from './inbound-command.js';
import type { InboundLink } from '../links/inbound-link.js';
import { readMessage } from './received-message.js';
import type { SenderRate } from './sender-rate.js';

/** Two transactions at a time keep PostgreSQL busy while the next set gathers; more only queue up inside it. */
const MAX_BATCHES_IN_FLIGHT = 2;
/** MOs that wait for a transaction at most; beyond it carriers are asked to send again. */
export const MAX_QUEUED_MESSAGES = 5_000;
/** A database that is away fails every batch: one line in this time says it all. */
const REPORT_EVERY_MS = 1_000;

export interface InboundOptions {
  readonly clock: Pick<DatabaseClock, 'newId'>;
  readonly batch: Pick<InboundBatch, 'storeAndMatch'>;
  /** Takes what reports on a message of ours. */
  readonly receipts: { acceptReceipt(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer };
  readonly maxBatch: number;
  readonly senderRate: Pick<SenderRate, 'takeToken'>;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * The way of an MO: from the PDU to its answer. Answered ESME_ROK once the transaction that holds it is committed,
 * whatever its fate; with the link's retryable status when that could not be done, so that the carrier sends it again.
 */
export class InboundService {
  readonly #batcher: Batcher<InboundCommand, InboundVerdict | null>;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly o: InboundOptions) {
    this.#batcher = new Batcher({
      name: 'inbound',
      run: (commands) => o.batch.storeAndMatch(commands),
      keysOf: (command) => command.keys,
      maxBatch: o.maxBatch,
      maxInFlight: MAX_BATCHES_IN_FLIGHT,
      maxQueued: MAX_QUEUED_MESSAGES,
      onBatch: (size) => o.metrics.batchSize.observe(size),
    });
  }

  /** MOs that wait for a transaction. */
  get queued(): number {
    return this.#batcher.queued;
  }

  /** Never rejects. */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    if (messageKind(pdu) === 'receipt') return this.o.receipts.acceptReceipt(pdu, link);
    const receivedMs = performance.now();
    // Checked first, so that a message over the limit costs nothing further.
    if (!this.o.senderRate.takeToken(link.id, pdu.fields.sourceAddress.value, receivedMs)) {
      this.o.metrics.retryableResponses.inc({ reason: 'sender_rate' });
      return { status: link.retryableMoStatus };
    }
    const command = inboundCommand(this.o.clock.newId(), link, readMessage(pdu, link.defaultAlphabet));
    return this.#batcher.add(command).then(
      (verdict) => {
        if (verdict === null) return this.refuseFenced(link);
        this.recordMetrics(verdict, link, (performance.now() - receivedMs) / 1_000);
        return okAnswer(pdu, command);
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  /** Resolves once everything that came in is answered. */
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  private recordMetrics({ fate }: InboundVerdict, link: InboundLink, seconds: number): void {
    const whose = this.o.metrics.linkLabels(link);
    this.o.metrics.messages.inc({ fate, ...whose });
    this.o.metrics.answerSeconds.observe(seconds);
    if (fate === 'matched') this.o.metrics.matchSeconds.observe(whose, seconds);
  }

  /** The connection is another gateway's by now: what came over it is sent again, and comes there. */
  private refuseFenced({ retryableMoStatus }: InboundLink): MessageAnswer {
    this.o.metrics.retryableResponses.inc({ reason: 'fenced' });
    return { status: retryableMoStatus };
  }

  private refuseForRetry(error: unknown, link: InboundLink): MessageAnswer {
    this.o.metrics.retryableResponses.inc({ reason: reasonOf(error) });
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs >= REPORT_EVERY_MS) {
      this.#reportedMs = nowMs;
      this.o.logger.error({ err: error, queued: this.queued }, 'messages could not be stored and are asked for again');
    }
    return { status: link.retryableMoStatus };
  }
}

/** A deliver_sm_resp has no message_id (SMPP 3.4 section 4.6.2). */
function okAnswer(pdu: MessagePdu, { id }: InboundCommand): MessageAnswer {
  return pdu.command === 'deliver_sm'
    ? { status: STATUS.ESME_ROK }
    : { status: STATUS.ESME_ROK, messageId: renderId('msg', id) };
}

function reasonOf(error: unknown): 'queue_full' | 'database_away' | 'failed' {
  if (error instanceof BatcherFull) return 'queue_full';
  return error instanceof DatabaseUnavailable ? 'database_away' : 'failed';
}
