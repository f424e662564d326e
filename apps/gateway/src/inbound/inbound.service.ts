import { renderId } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { Batcher, BatcherFull, DatabaseClock, DatabaseUnavailable } from '@countersign/postgres';
import { KeyedTokenBuckets, throttled } from '@countersign/resilience';
import type { InboundVerdict } from '@countersign/session/rules';
import { GatewaySettings } from '@countersign/settings';
import type { MessageAnswer } from '@countersign/smpp/link';
import { STATUS, type MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStop } from '../composition/phases.js';
import type { InboundLink } from '../links/inbound-link.js';
import { InboundBatch } from './inbound-batch.js';
import { inboundCommand, senderKey, type InboundCommand } from './inbound-command.js';
import { InboundMetrics, type RetryReason } from './inbound.metrics.js';
import { readMessage, type ReceivedMessage } from './received-message.js';
import { SenderRate } from './sender-rate.js';

/** Two concurrent transactions keep PostgreSQL busy while the next batch fills; more would only wait in PostgreSQL. */
const MAX_BATCHES_IN_FLIGHT = 2;
/** Maximum MOs over trusted links that wait for a transaction; further ones get the link's retryable status. */
export const MAX_QUEUED_MESSAGES = 5_000;
/**
 * The same over links that are not trusted, whose MOs cannot approve. They have a queue and a transaction of their own, so
 * that no MO that can approve waits for them.
 */
export const MAX_UNTRUSTED_MESSAGES = MAX_QUEUED_MESSAGES / 2;
const MAX_UNTRUSTED_BATCHES_IN_FLIGHT = 1;
/** Stored MOs of one untrusted link. They approve nothing and are kept for diagnosis; at this rate a link adds some 5 GB a day. */
const UNTRUSTED_RATE = { perSecond: 100, burstSeconds: 10, maxKeys: 10_000 };

type InboundBatcher = Batcher<InboundCommand, InboundVerdict | null>;

/**
 * Processes an MO, from the PDU to the response: ESME_ROK after the commit of its transaction, whatever its fate; the
 * link's retryable status when it could not be stored, so that the carrier resends it.
 */
@Injectable()
export class InboundService {
  readonly #trusted: InboundBatcher;
  readonly #untrusted: InboundBatcher;
  /** An unreachable database fails every batch. */
  readonly #report = throttled((err) =>
    this.logger.error({ err, queued: this.queued }, 'MOs could not be stored; the carrier is asked to resend'),
  );

  readonly #senderRate: SenderRate;
  readonly #untrustedRate = new KeyedTokenBuckets(UNTRUSTED_RATE);

  constructor(
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'newId'>,
    @Inject(InboundBatch) batch: Pick<InboundBatch, 'storeAndMatch'>,
    private readonly metrics: InboundMetrics,
    @Inject(GatewaySettings) settings: Pick<GatewaySettings, 'batchMaxCommands' | 'moSenderPerSecond'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.#senderRate = new SenderRate(settings.moSenderPerSecond);
    const batcherOf = (name: string, maxInFlight: number, maxQueued: number): InboundBatcher =>
      new Batcher({
        name,
        run: (commands) => batch.storeAndMatch(commands),
        keysOf: (command) => command.keys,
        limits: { maxBatch: settings.batchMaxCommands, maxInFlight, maxQueued },
        onBatch: (size) => metrics.batchSize.observe(size),
      });
    this.#trusted = batcherOf('inbound', MAX_BATCHES_IN_FLIGHT, MAX_QUEUED_MESSAGES);
    this.#untrusted = batcherOf('untrusted inbound', MAX_UNTRUSTED_BATCHES_IN_FLIGHT, MAX_UNTRUSTED_MESSAGES);
  }

  /** Number of MOs waiting for a transaction. */
  get queued(): number {
    return this.#trusted.queued + this.#untrusted.queued;
  }

  /** Counts an MO towards the rate of its sender, and stores it. Never rejects. `message` as in `storeMessage`. */
  acceptMessage(pdu: MessagePdu, link: InboundLink, message?: ReceivedMessage): Promise<MessageAnswer> | MessageAnswer {
    const receivedMs = performance.now();
    return this.limitSender(pdu, link, receivedMs) ?? this.storeMessage(pdu, link, receivedMs, message);
  }

  /**
   * Takes a token of the sender's rate, once for each message and before its text is read, so that a message over the
   * rate costs little. Returns the response to such a message, else null.
   *
   * @param receivedMs of `performance.now()`
   */
  limitSender(pdu: MessagePdu, link: InboundLink, receivedMs: number): MessageAnswer | null {
    if (this.#senderRate.takeToken(link.id, senderKey(pdu.fields.sourceAddress), receivedMs)) return null;
    this.metrics.countRetryableResponse('sender_rate');
    return { status: link.retryableMoStatus };
  }

  /**
   * Stores an MO that has passed `limitSender`. Never rejects.
   *
   * @param receivedMs when it arrived, of `performance.now()`
   * @param message the decoded message, where it is at hand; a message over the rate is not decoded
   */
  storeMessage(
    pdu: MessagePdu,
    link: InboundLink,
    receivedMs: number,
    message?: ReceivedMessage,
  ): Promise<MessageAnswer> | MessageAnswer {
    if (this.isOverRate(link, receivedMs)) return this.refuseOverRate(link);
    const batcher = link.trustedForMo ? this.#trusted : this.#untrusted;
    const command = inboundCommand(this.clock.newId(), link, message ?? readMessage(pdu, link.defaultAlphabet));
    return batcher.add(command).then(
      (verdict) => {
        if (verdict === null) return this.refuseFenced(link);
        this.metrics.countStoredMo(link, verdict.fate, (performance.now() - receivedMs) / 1_000);
        return okAnswer(pdu, command);
      },
      (error: unknown) => this.refuseForRetry(error, link),
    );
  }

  /** Resolves when every received message is answered. */
  @OnStop('drain batchers')
  async drain(): Promise<void> {
    await Promise.all([this.#trusted.drain(), this.#untrusted.drain()]);
  }

  private isOverRate({ id, trustedForMo }: InboundLink, receivedMs: number): boolean {
    if (trustedForMo) return false;
    if (this.#untrustedRate.waitMs(id, receivedMs) > 0) return true;
    this.#untrustedRate.take(id, receivedMs);
    return false;
  }

  private refuseOverRate({ retryableMoStatus }: InboundLink): MessageAnswer {
    this.metrics.countRetryableResponse('untrusted_rate');
    return { status: retryableMoStatus };
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
