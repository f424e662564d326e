import { renderId } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { Batcher, BatcherFull, DatabaseClock, DatabaseUnavailable } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import type { InboundVerdict } from '@countersign/session/rules';
import { GatewaySettings } from '@countersign/settings';
import type { MessageAnswer } from '@countersign/smpp/link';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStop } from '../composition/phases.js';
import type { InboundLink } from '../links/inbound-link.js';
import { InboundBatch } from './inbound-batch.js';
import { inboundCommand, type InboundCommand } from './inbound-command.js';
import { InboundMetrics, type RetryReason } from './inbound.metrics.js';
import { readMessage } from './received-message.js';
import { SenderRate } from './sender-rate.js';

/** Two concurrent transactions keep PostgreSQL busy while the next batch fills; more would only wait in PostgreSQL. */
const MAX_BATCHES_IN_FLIGHT = 2;
/** Maximum MOs waiting for a transaction; further ones get the link's retryable status. */
export const MAX_QUEUED_MESSAGES = 5_000;
/** Of these, maximum MOs over links that are not trusted, which cannot approve: they leave room for those that can. */
export const MAX_UNTRUSTED_MESSAGES = MAX_QUEUED_MESSAGES / 2;

/**
 * Processes an MO, from the PDU to the response: ESME_ROK after the commit of its transaction, whatever its fate; the
 * link's retryable status when it could not be stored, so that the carrier resends it.
 */
@Injectable()
export class InboundService {
  readonly #batcher: Batcher<InboundCommand, InboundVerdict | null>;
  /** An unreachable database fails every batch. */
  readonly #report = throttled((err) =>
    this.logger.error({ err, queued: this.queued }, 'MOs could not be stored; the carrier is asked to resend'),
  );

  readonly #senderRate: SenderRate;
  /** MOs over untrusted links that are not answered yet. */
  #untrusted = 0;

  constructor(
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'newId'>,
    @Inject(InboundBatch) batch: Pick<InboundBatch, 'storeAndMatch'>,
    private readonly metrics: InboundMetrics,
    @Inject(GatewaySettings) settings: Pick<GatewaySettings, 'batchMaxCommands' | 'moSenderPerSecond'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.#senderRate = new SenderRate(settings.moSenderPerSecond);
    this.#batcher = new Batcher({
      name: 'inbound',
      run: (commands) => batch.storeAndMatch(commands),
      keysOf: (command) => command.keys,
      limits: {
        maxBatch: settings.batchMaxCommands,
        maxInFlight: MAX_BATCHES_IN_FLIGHT,
        maxQueued: MAX_QUEUED_MESSAGES,
      },
      onBatch: (size) => metrics.batchSize.observe(size),
    });
  }

  /** Number of MOs waiting for a transaction. */
  get queued(): number {
    return this.#batcher.queued;
  }

  /** Counts an MO towards the rate of its sender, and stores it. Never rejects. */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const receivedMs = performance.now();
    return this.limitSender(pdu, link, receivedMs) ?? this.storeMessage(pdu, link, receivedMs);
  }

  /**
   * Takes a token of the sender's rate, once for each message and before its text is read, so that a message over the
   * rate costs little. Returns the response to such a message, else null.
   *
   * @param receivedMs of `performance.now()`
   */
  limitSender(pdu: MessagePdu, link: InboundLink, receivedMs: number): MessageAnswer | null {
    if (this.#senderRate.takeToken(link.id, pdu.fields.sourceAddress.value, receivedMs)) return null;
    this.metrics.countRetryableResponse('sender_rate');
    return { status: link.retryableMoStatus };
  }

  /**
   * Stores an MO that has passed `limitSender`. Never rejects.
   *
   * @param receivedMs when it arrived, of `performance.now()`
   */
  storeMessage(pdu: MessagePdu, link: InboundLink, receivedMs: number): Promise<MessageAnswer> | MessageAnswer {
    return link.trustedForMo ? this.store(pdu, link, receivedMs) : this.storeUntrusted(pdu, link, receivedMs);
  }

  /** Resolves when every received message is answered. */
  @OnStop('drain batchers')
  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  private storeUntrusted(
    pdu: MessagePdu,
    link: InboundLink,
    receivedMs: number,
  ): Promise<MessageAnswer> | MessageAnswer {
    if (this.#untrusted >= MAX_UNTRUSTED_MESSAGES) {
      this.metrics.countRetryableResponse('queue_full');
      return { status: link.retryableMoStatus };
    }
    this.#untrusted += 1;
    return this.store(pdu, link, receivedMs).finally(() => {
      this.#untrusted -= 1;
    });
  }

  private store(pdu: MessagePdu, link: InboundLink, receivedMs: number): Promise<MessageAnswer> {
    const command = inboundCommand(this.clock.newId(), link, readMessage(pdu, link.defaultAlphabet));
    return this.#batcher.add(command).then(
      (verdict) => {
        if (verdict === null) return this.refuseFenced(link);
        this.metrics.countStoredMo(link, verdict.fate, (performance.now() - receivedMs) / 1_000);
        return okAnswer(pdu, command);
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  /** Another gateway holds the lease of the connection: the carrier resends the MO there. */
  private refuseFenced({ retryableMoStatus }: InboundLink): MessageAnswer {
    this.metrics.countRetryableResponse('fenced');
    return { status: retryableMoStatus };
  }

  private refuseForRetry(error: unknown, link: InboundLink): MessageAnswer {
    this.metrics.countRetryableResponse(reasonOf(error));
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
