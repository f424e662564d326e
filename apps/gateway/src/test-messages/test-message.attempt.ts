import type { AttemptOutcome } from '@countersign/carriers/outbound';
import { effectiveOptions, NO_OPTIONS, type SubmitOptions } from '@countersign/carriers/submit-options';
import {
  notSent,
  SENT_WITHIN_SECONDS,
  testMessageText,
  type ClaimedTestMessage,
  type TestMessageResult,
} from '@countersign/carriers/test-messages';
import { renderId } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { elapsedMs } from '@countersign/schedule';
import type { Outgoing, SubmitSm } from '@countersign/smpp/pdu';
import { BindConnections } from '../binds/bind-connections.js';
import type { BindSender } from '../binds/bind-supervisor.js';
import { ILLEGAL_OPTIONS, judgeAnswer, judgeFailure, judgeParts, NOT_SENT } from '../outbound/judge-answer.js';
import { identifiesPhone } from '../outbound/recipient-forms.js';
import { destinationAddressOf, submitPdu } from '../outbound/submit-pdu.js';
import { textParts, type TextPart } from '../outbound/text-parts.js';

const MS_PER_SECOND = 1_000;
const SENT_WITHIN_MS = SENT_WITHIN_SECONDS * MS_PER_SECOND;
/** The validity period in the PDU: a phone that is off gets no test later. */
const VALID_SECONDS = 300;
const SENDER = 'Countersign';

/** Sends a test message as a code is sent, in the form that the bind's carrier asks for, beside the queue of codes. */
@Injectable()
export class TestMessageAttempt {
  constructor(
    private readonly connections: BindConnections,
    private readonly clock: DatabaseClock,
  ) {}

  async make(message: ClaimedTestMessage): Promise<TestMessageResult> {
    const [sender] = this.connections.sendersOf(message.bindId);
    const endsMs = elapsedMs() + message.createdAt.getTime() + SENT_WITHIN_MS - this.clock.nowMs();
    if (sender === undefined) return notSent(NOT_SENT);
    const options = effectiveOptions(sender.terms.submitOptions, NO_OPTIONS);
    // Options, which engineers write, send it to no other phone than the one that was judged and is in the audit log.
    const destination = message.phone;
    if (options === null || !identifiesPhone(destination, destinationAddressOf({ destination }, options)))
      return notSent(ILLEGAL_OPTIONS);
    const sentAt = this.now();
    const outcome = await this.sendParts(message, sender, options, endsMs);
    return resultOf(outcome, { slot: sender.link.slot, sentAt, answeredAt: this.now() });
  }

  private async sendParts(
    message: ClaimedTestMessage,
    sender: BindSender,
    options: SubmitOptions,
    endsMs: number,
  ): Promise<AttemptOutcome> {
    const { defaultAlphabet } = sender.terms;
    const parts = textParts(testMessageText(message), defaultAlphabet, 0, options.concatenation);
    const pdus = parts.map((part) => this.pduOf(message, options, part));
    return judgeParts(await Promise.all(pdus.map((pdu) => this.submit(sender, pdu, endsMs))));
  }

  private pduOf(
    { id, phone: destination, source }: ClaimedTestMessage,
    options: SubmitOptions,
    part: TextPart,
  ): Outgoing<SubmitSm> {
    const expiresAt = new Date(this.clock.nowMs() + VALID_SECONDS * MS_PER_SECOND);
    const envelope = { destination, source, validSeconds: VALID_SECONDS, expiresAt, brand: SENDER };
    return submitPdu({ ...envelope, messageId: renderId('msg', id) }, part, options);
  }

  /** The SMS of a test message is sent here, by `submit_sm`. Never rejects. */
  private async submit(sender: BindSender, pdu: Outgoing<SubmitSm>, endsMs: number): Promise<AttemptOutcome> {
    try {
      return judgeAnswer(await sender.submit(pdu, endsMs), sender.terms);
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
        ? notSent(NOT_SENT)
        : { ...sent, state: 'refused', smscMessageId: null, error: outcome.error };
  }
}
