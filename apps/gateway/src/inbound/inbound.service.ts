import { renderId } from '@countersign/ids';
import { Batcher, BatcherFull, DatabaseUnavailable, type DatabaseClock } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import type { InboundVerdict } from '@countersign/session/rules';
import type { MessageAnswer } from '@countersign/smpp/link';
import { messageKind } from '@countersign/smpp/messages';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics, RetryReason } from '../metrics/gateway.metrics.js';
import type { InboundBatch } from './inbound-batch.js';
import { inboundCommand, type InboundCommand } from './inbound-command.js';
import type { InboundLink } from '../links/inbound-link.js';
import { readMessage } from './received-message.js';
import type { SenderRate } from './sender-rate.js';

/** Two concurrent transactions keep PostgreSQL busy while the next batch fills; more would only wait in PostgreSQL. */
const MAX_BATCHES_IN_FLIGHT = 2;
/** Maximum MOs waiting for a transaction; further ones get the link's retryable status. */
export const MAX_QUEUED_MESSAGES = 5_000;

export interface InboundOptions {
  readonly clock: Pick<DatabaseClock, 'newId'>;
  readonly batch: Pick<InboundBatch, 'storeAndMatch'>;
  /** Processes delivery receipts. */
  readonly receipts: { acceptReceipt(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer };
  readonly maxBatch: number;
  readonly senderRate: Pick<SenderRate, 'takeToken'>;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/**
 * Processes an MO, from the PDU to the response: ESME_ROK after the commit of its transaction, whatever its fate; the
 * link's retryable status when it could not be stored, so that the carrier resends it.
 */
export class InboundService {
  readonly #batcher: Batcher<InboundCommand, InboundVerdict | null>;
  /** An unreachable database fails every batch. */
  readonly #report = throttled((err) =>
    this.o.logger.error({ err, queued: this.queued }, 'MOs could not be stored; the carrier is asked to resend'),
  );

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

  /** Number of MOs waiting for a transaction. */
  get queued(): number {
    return this.#batcher.queued;
  }

  /** Never rejects. */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    if (messageKind(pdu) === 'receipt') return this.o.receipts.acceptReceipt(pdu, link);
    const receivedMs = performance.now();
    // Checked before decoding, so that a message over the limit costs little.
    if (!this.o.senderRate.takeToken(link.id, pdu.fields.sourceAddress.value, receivedMs)) {
      this.o.metrics.countRetryableResponse('sender_rate');
      return { status: link.retryableMoStatus };
    }
    const command = inboundCommand(this.o.clock.newId(), link, readMessage(pdu, link.defaultAlphabet));
    return this.#batcher.add(command).then(
      (verdict) => {
        if (verdict === null) return this.refuseFenced(link);
        this.o.metrics.countStoredMo(link, verdict.fate, (performance.now() - receivedMs) / 1_000);
        return okAnswer(pdu, command);
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  /** Resolves when every received message is answered. */
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  /** Another gateway holds the lease of the connection: the carrier resends the MO there. */
  private refuseFenced({ retryableMoStatus }: InboundLink): MessageAnswer {
    this.o.metrics.countRetryableResponse('fenced');
    return { status: retryableMoStatus };
  }

  private refuseForRetry(error: unknown, link: InboundLink): MessageAnswer {
    this.o.metrics.countRetryableResponse(reasonOf(error));
    this.#report(error);
    return { status: link.retryableMoStatus };
  }
}

/** A deliver_sm_resp has no message_id (SMPP 3.4 section 4.6.2). */
function okAnswer(pdu: MessagePdu, { id }: InboundCommand): MessageAnswer {
  return pdu.command === 'deliver_sm'
    ? { status: STATUS.ESME_ROK }
    : { status: STATUS.ESME_ROK, messageId: renderId('msg', id) };
}

function reasonOf(error: unknown): RetryReason {
  if (error instanceof BatcherFull) return 'queue_full';
  return error instanceof DatabaseUnavailable ? 'database_away' : 'failed';
}
