import { Inject, Injectable } from '@nestjs/common';
import type { AttemptOutcome, AttemptRecord } from '@countersign/carriers/outbound';
import { effectiveOptions, type SubmitOptions } from '@countersign/carriers/submit-options';
import { EXPIRED } from '@countersign/carriers/planning';
import { renderId } from '@countersign/ids';
import { ServerKeys, SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import { NotSentError } from '@countersign/smpp/link';
import type { Outgoing, ResponsePdu, SubmitSm } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { CodeSenders } from './code-senders.js';
import type { TimedClaim } from './mt-claimer.js';
import { SubmitQueues } from './submit-queues.js';
import {
  judgeAnswer,
  judgeFailure,
  judgeParts,
  ILLEGAL_OPTIONS,
  NOT_SENT,
  SENT_BEFORE,
  UNREADABLE_TEXT,
  type AnswerConventions,
} from './judge-answer.js';
import { identifiesPhone } from './recipient-forms.js';
import { destinationAddressOf, NO_RECEIPT, submitPdu } from './submit-pdu.js';
import { SubmittedCodes } from './submitted-codes.js';
import { textParts, type TextPart } from './text-parts.js';

const MS_PER_SECOND = 1_000;

type Claimed = Pick<TimedClaim, 'message' | 'plan' | 'endsMs'>;

/** A claimed message with the options of its route and link. */
interface ClaimedWithOptions extends Claimed {
  readonly options: SubmitOptions;
  readonly times: AttemptTimes;
}

/** The outcome of an attempt, with its times by the database's clock (see `AttemptRecord`). */
export type MadeAttempt = Required<Pick<AttemptRecord, 'outcome' | 'submittedAt' | 'answeredAt'>>;

/** Of an attempt whose parts are being sent. */
interface AttemptTimes {
  submittedAt: Date | null;
  answeredAt: Date | null;
}

/** Makes the attempt of a claimed message: sends the SMS with the code. */
@Injectable()
export class AttemptMaker {
  readonly #submitted = new SubmittedCodes();

  constructor(
    private readonly keys: ServerKeys,
    private readonly clock: DatabaseClock,
    private readonly senders: CodeSenders,
    private readonly queues: SubmitQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Sends the SMS, in parts if it is long, and resolves to the outcome. Never rejects. */
  async makeAttempt(claimed: Claimed): Promise<MadeAttempt> {
    const times: AttemptTimes = { submittedAt: null, answeredAt: null };
    const { id } = claimed.message;
    if (!this.#submitted.begin(id)) return { outcome: { kind: 'refused', error: SENT_BEFORE }, ...times };
    const outcome = await this.sendParts(claimed, times);
    if (outcome.kind !== 'submitted' && outcome.kind !== 'unknown') this.#submitted.takeBack(id);
    return { outcome, ...times };
  }

  private async sendParts(claimed: Claimed, times: AttemptTimes): Promise<AttemptOutcome> {
    const { message, plan } = claimed;
    const sender = this.senders.senderOf(plan.link);
    if (sender === null) return { kind: 'busy', error: NOT_SENT };
    // `busy`: the next poll fails the message as expired.
    if (this.secondsLeft(message) < 1) return { kind: 'busy', error: EXPIRED };
    const text = this.textOf(message);
    if (text === null) return { kind: 'refused', error: UNREADABLE_TEXT };
    const { terms } = sender;
    const options = effectiveOptions(terms.submitOptions, plan.submitOptions);
    if (options === null || leadsElsewhere(message, options)) return { kind: 'refused', error: ILLEGAL_OPTIONS };
    // All parts at once: a submit queue keeps their order.
    const parts = textParts(text, terms.defaultAlphabet, referenceOf(message), options.concatenation);
    const withinMs = Math.min(terms.responseTimeoutSeconds, this.secondsLeft(message)) * MS_PER_SECOND;
    const withOptions = { ...claimed, options, times };
    return judgeParts(await Promise.all(parts.map((part) => this.sendPart(withOptions, part, withinMs, terms))));
  }

  private async sendPart(
    claimed: ClaimedWithOptions,
    part: TextPart,
    withinMs: number,
    conventions: AnswerConventions,
  ): Promise<AttemptOutcome> {
    try {
      const answer = await this.queues.submit(claimed.plan.link, withinMs, () => this.submitPart(claimed, part));
      claimed.times.answeredAt = new Date(this.clock.nowMs());
      return judgeAnswer(answer, conventions);
    } catch (error) {
      if (error instanceof NotSentError && this.secondsLeft(claimed.message) < 1)
        return { kind: 'busy', error: EXPIRED };
      return judgeFailure(error);
    }
  }

  /** The SMS with a code is sent here, by `submit_sm`, at its turn in the queue: checks sender and remaining time again. */
  private submitPart(claimed: ClaimedWithOptions, part: TextPart): Promise<ResponsePdu> {
    const { message, plan, endsMs, options, times } = claimed;
    const sender = this.senders.senderOf(plan.link);
    const validSeconds = this.secondsLeft(message);
    if (sender === null || validSeconds < 1)
      return Promise.reject(new NotSentError('the sender is gone or the validity is over'));
    const { destination, expiresAt, brand } = message;
    const messageId = renderId('msg', message.id);
    const envelope = { destination, source: plan.source, validSeconds, expiresAt, brand, messageId };
    times.submittedAt ??= new Date(this.clock.nowMs());
    const pdu = submitPdu(envelope, part, options);
    return sender.submit(isOfSignIn(message) ? confidential(pdu) : pdu, endsMs);
  }

  /** Whole seconds until the code expires. */
  private secondsLeft({ expiresAt }: Claimed['message']): number {
    return Math.floor((expiresAt.getTime() - this.clock.nowMs()) / MS_PER_SECOND);
  }

  /** Null if the text cannot be opened (another key): one unreadable message must not block the others. */
  private textOf({ id, textSealed }: Claimed['message']): string | null {
    try {
      return this.keys.open('message-text', textSealed, id).toString('utf8');
    } catch (err) {
      this.logger.error({ err }, 'MT dispatcher: text of a code cannot be opened; the code fails');
      return null;
    }
  }
}

/** Whether it is the code of a sign-in to the console, which is good for the session of somebody who may change an account. */
const isOfSignIn = ({ accountId }: Claimed['message']): boolean => accountId === SIGN_IN_ACCOUNT_ID;

/** No trace of a link shows its text, and no receipt is asked for, whatever the options say: many quote the text. */
const confidential = (pdu: Outgoing<SubmitSm>): Outgoing<SubmitSm> => ({
  ...pdu,
  fields: { ...pdu.fields, registeredDelivery: NO_RECEIPT },
  isConfidential: true,
});

/** Whether the options of a route or link, which engineers write, could send the code of a sign-in to another phone. */
const leadsElsewhere = (message: Claimed['message'], options: SubmitOptions): boolean =>
  isOfSignIn(message) && !identifiesPhone(message.destination, destinationAddressOf(message, options));

/** Equal for all attempts, so that the phone treats a part sent twice as one part. */
const referenceOf = ({ id }: Claimed['message']): number => Number.parseInt(id.slice(-2), 16) || 0;
