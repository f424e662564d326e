import type { AttemptOutcome, ClaimedMessage, PlannedAttempt } from '@countersign/carriers/outbound';
import type { ServerKeys } from '@countersign/keys';
import type { DatabaseClock } from '@countersign/postgres';
import { NotSentError } from '@countersign/smpp/link';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import type { SubmitQueues, Senders } from './submit-queues.js';
import { EXPIRED } from './delivery-plan.js';
import {
  judgeAnswer,
  judgeFailure,
  judgeParts,
  NOT_SENT,
  UNREADABLE_TEXT,
  type AnswerConventions,
} from './judge-answer.js';
import { submitPdu } from './submit-pdu.js';
import { textParts, type TextPart } from './text-parts.js';

const MS_PER_SECOND = 1_000;

export interface AttemptMakerOptions {
  readonly keys: ServerKeys;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly senders: Pick<Senders, 'senderOfLease'>;
  readonly queues: Pick<SubmitQueues, 'submit'>;
  readonly onError: (error: unknown) => void;
}

type Claimed = Pick<ClaimedMessage, 'message' | 'plan'>;

/** Makes the one attempt that a claim allows. */
export class AttemptMaker {
  constructor(private readonly o: AttemptMakerOptions) {}

  /** Settles with what came of it, and never rejects. */
  async makeAttempt({ message, plan }: Claimed): Promise<AttemptOutcome> {
    const sender = this.o.senders.senderOfLease(plan.lease);
    if (sender === null) return { kind: 'busy', error: NOT_SENT };
    // Found over at the next look, which says so.
    if (this.secondsLeft(message) < 1) return { kind: 'busy', error: EXPIRED };
    const text = this.textOf(message);
    if (text === null) return { kind: 'refused', error: UNREADABLE_TEXT };
    // All of them at once: a lane keeps the order, and their answers are waited for together.
    const parts = textParts(text, sender.bind.defaultAlphabet, referenceOf(message));
    const withinMs = Math.min(sender.bind.responseTimeoutSeconds, this.secondsLeft(message)) * MS_PER_SECOND;
    return judgeParts(
      await Promise.all(parts.map((part) => this.sendPart({ message, plan }, part, withinMs, sender.bind))),
    );
  }

  private async sendPart(
    { message, plan }: Claimed,
    part: TextPart,
    withinMs: number,
    manners: AnswerConventions,
  ): Promise<AttemptOutcome> {
    try {
      const answer = await this.o.queues.submit(plan.lease, withinMs, () => this.submitPart({ message, plan }, part));
      return judgeAnswer(answer, manners);
    } catch (error) {
      if (error instanceof NotSentError && this.secondsLeft(message) < 1) return { kind: 'busy', error: EXPIRED };
      return judgeFailure(error);
    }
  }

  /** At its turn: whatever has changed while it waited counts. */
  private submitPart({ message, plan }: Claimed, part: TextPart): Promise<ResponsePdu> {
    const sender = this.o.senders.senderOfLease(plan.lease);
    const validSeconds = this.secondsLeft(message);
    if (sender === null || validSeconds < 1) return Promise.reject(new NotSentError('it came too late'));
    return sender.submit(submitPdu({ ...addressesOf(message, plan), validSeconds }, part));
  }

  /** Whole seconds until nobody can use it any more. */
  private secondsLeft({ expiresAt }: Claimed['message']): number {
    return Math.floor((expiresAt.getTime() - this.o.clock.nowMs()) / MS_PER_SECOND);
  }

  /** Null where it was sealed with another key: one message that cannot be read must not stop the rest. */
  private textOf({ id, textSealed }: Claimed['message']): string | null {
    try {
      return this.o.keys.open('message-text', textSealed, id).toString('utf8');
    } catch (error) {
      this.o.onError(error);
      return null;
    }
  }
}

const addressesOf = ({ destination }: Claimed['message'], { source }: PlannedAttempt) => ({ destination, source });

/** The same for every attempt, so that a part that is sent twice is one part to the phone. */
const referenceOf = ({ id }: Claimed['message']): number => Number.parseInt(id.slice(-2), 16) || 0;
