import type { AttemptOutcome } from '@countersign/carriers/outbound';
import { effectiveOptions, NO_OPTIONS, type SubmitOptions } from '@countersign/carriers/submit-options';
import {
  SENT_WITHIN_SECONDS,
  testMessageText,
  type ClaimedTestMessage,
  type TestMessageResult,
} from '@countersign/carriers/test-messages';
import { renderId } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { elapsedMs } from '@countersign/schedule';
import { BindConnections } from '../binds/bind-connections.js';
import type { BindSender } from '../binds/bind-supervisor.js';
import { ILLEGAL_OPTIONS, judgeAnswer, judgeFailure, judgeParts, NOT_SENT } from '../outbound/judge-answer.js';
import { identifiesPhone } from '../outbound/recipient-forms.js';
import { destinationAddressOf, submitPdu } from '../outbound/submit-pdu.js';
import { textParts, type TextPart } from '../outbound/text-parts.js';

const MS_PER_SECOND = 1_000;
/** The validity period in the PDU: a phone that is off gets no test later. */
const VALID_SECONDS = 300;
const SENDER = 'Countersign';

const NOT_SENT_RESULT: TestMessageResult = {
  ...{ state: 'not_sent', slot: null, smscMessageId: null, sentAt: null, answeredAt: null },
  error: NOT_SENT,
};

/** Sends a test message as a code is sent, in the form that the bind's carrier asks for, beside the queue of codes. */
@Injectable()
export class TestMessageAttempt {
  constructor(
    private readonly connections: BindConnections,
    private readonly clock: DatabaseClock,
  ) {}

  /** Never rejects. */
  async make(message: ClaimedTestMessage): Promise<TestMessageResult> {
    const [sender] = this.connections.sendersOf(message.bindId);
    if (sender === undefined) return NOT_SENT_RESULT;
    const options = effectiveOptions(sender.terms.submitOptions, NO_OPTIONS);
    // Options, which engineers write, send it to no other phone than the one that was judged and is in the audit log.
    const destination = message.phone;
    if (options === null || !identifiesPhone(destination, destinationAddressOf({ destination }, options)))
      return { ...NOT_SENT_RESULT, error: ILLEGAL_OPTIONS };
    const sentAt = this.now();
    const outcome = await this.sendParts(message, sender, options);
    return resultOf(outcome, { slot: sender.link.slot, sentAt, answeredAt: this.now() });
  }

  private async sendParts(
    message: ClaimedTestMessage,
    sender: BindSender,
    options: SubmitOptions,
  ): Promise<AttemptOutcome> {
    const { defaultAlphabet } = sender.terms;
    const parts = textParts(testMessageText(message), defaultAlphabet, 0, options.concatenation);
    const sent = await Promise.all(parts.map((part) => this.sendPart(message, sender, options, part)));
    return judgeParts(sent);
  }

  /** An SMS is sent here, by `submit_sm`. */
  private async sendPart(
    { id, phone: destination, source }: ClaimedTestMessage,
    sender: BindSender,
    options: SubmitOptions,
    part: TextPart,
  ): Promise<AttemptOutcome> {
    const expiresAt = new Date(this.clock.nowMs() + VALID_SECONDS * MS_PER_SECOND);
    const envelope = { destination, source, validSeconds: VALID_SECONDS, expiresAt, brand: SENDER };
    const pdu = submitPdu({ ...envelope, messageId: renderId('msg', id) }, part, options);
    try {
      return judgeAnswer(await sender.submit(pdu, elapsedMs() + SENT_WITHIN_SECONDS * MS_PER_SECOND), sender.terms);
    } catch (error) {
      return judgeFailure(error);
    }
  }

  private now(): string {
    return new Date(this.clock.nowMs()).toISOString();
  }
}

function resultOf(
  outcome: AttemptOutcome,
  sent: Pick<TestMessageResult, 'slot' | 'sentAt' | 'answeredAt'>,
): TestMessageResult {
  switch (outcome.kind) {
    case 'submitted':
      return { ...sent, state: 'accepted', smscMessageId: outcome.smscMessageId, error: null };
    case 'unknown':
      return { ...sent, state: 'unanswered', smscMessageId: null, error: outcome.error, answeredAt: null };
    case 'busy':
    case 'refused':
      return outcome.error === NOT_SENT
        ? NOT_SENT_RESULT
        : { ...sent, state: 'refused', smscMessageId: null, error: outcome.error };
  }
}
