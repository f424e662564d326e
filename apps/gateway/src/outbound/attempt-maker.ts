import type { AttemptOutcome, ClaimedMessage } from '@countersign/carriers';
import type { ServerKeys } from '@countersign/keys';
import type { DatabaseClock, Uuid } from '@countersign/postgres';
import type { BindSender } from '../binds/bind-supervisor.js';
import { EXPIRED } from './delivery-plan.js';
import { judgeAnswer, judgeFailure, NOT_SENT, UNREADABLE_TEXT } from './judge-answer.js';
import { submitPdu } from './submit-pdu.js';

export interface AttemptMakerOptions {
  readonly keys: ServerKeys;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly senderOf: (bindId: Uuid) => BindSender | null;
  readonly onError: (error: unknown) => void;
}

/** Makes the one attempt that a claim allows. */
export class AttemptMaker {
  constructor(private readonly o: AttemptMakerOptions) {}

  /** Settles with what came of it, and never rejects. */
  async make({ message, plan }: ClaimedMessage): Promise<AttemptOutcome> {
    const sender = this.o.senderOf(plan.bindId);
    if (sender === null) return { kind: 'busy', error: NOT_SENT };
    const validSeconds = Math.floor((message.expiresAt.getTime() - this.o.clock.nowMs()) / 1_000);
    // Found over at the next look, which says so.
    if (validSeconds < 1) return { kind: 'busy', error: EXPIRED };
    const text = this.textOf(message);
    if (text === null) return { kind: 'refused', error: UNREADABLE_TEXT };
    const { destination } = message;
    const pdu = submitPdu({ destination, source: plan.source, text, validSeconds }, sender.bind.defaultAlphabet);
    try {
      return judgeAnswer(await sender.submit(pdu));
    } catch (error) {
      return judgeFailure(error);
    }
  }

  /** Null where it was sealed with another key: one message that cannot be read must not stop the rest. */
  private textOf({ id, textSealed }: ClaimedMessage['message']): string | null {
    try {
      return this.o.keys.open('message-text', textSealed, id).toString('utf8');
    } catch (error) {
      this.o.onError(error);
      return null;
    }
  }
}
