import type { Attempt } from '@countersign/carriers/outbound';
import type { MessageRecord } from '@countersign/carriers/messages';
import type { Plain } from '../crud/plain.js';
import { attemptView } from '../messages/attempt.view.js';
import { messageView } from '../messages/message.view.js';
import type { TracedPduView } from '../trace/trace.view.js';
import { entry, type Entry } from './entry.js';

/** The result of an MO as part of a sentence, by fate. */
const FATE_SENTENCES: Readonly<Record<string, string>> = {
  matched: 'its token and its sender matched',
  duplicate: 'the session was already approved by an SMS',
  wrong_sender: 'its sender is not the phone of the session',
  ambiguous_sender: 'its sender may be two different numbers',
  unknown_token: 'its token is not known',
  expired: 'the session had expired',
  ended: 'the session had ended',
  no_token: 'it has no token',
  untrusted: 'its connection is not trusted for messages from phones',
};

const OUTCOME_SENTENCES: Readonly<Record<NonNullable<Attempt['outcome']>, string>> = {
  submitted: 'was accepted by the carrier',
  throttled: 'got a temporary error status',
  refused: 'was refused by the carrier',
  not_sent: 'was not sent',
  unanswered: 'got no response, so the carrier may have accepted it',
  unknown: 'has an unknown result, since its gateway ended before it recorded one',
};

/** An MO, with its PDU if a trace still has it. */
export function inboundEntry(message: MessageRecord, arrivedAt: Date, pdu: Plain<TracedPduView> | null): Entry {
  const { id, fate, carrier, linkId, source, destination, part } = messageView(message);
  const ofPart = part === null ? '' : `, part ${part.number} of ${part.total},`;
  return entry(arrivedAt, 'message.received', 'smpp', {
    summary: `An SMS to ${destination}${ofPart} arrived over carrier ${carrier ?? 'unknown'}: ${FATE_SENTENCES[fate] ?? fate}.`,
    details: { messageId: id, fate, carrier, linkId, source, destination, part, pdu },
  });
}

/** A code: its request, its attempts, and its end. */
export function outboundEntries(message: MessageRecord): Entry[] {
  const { id: messageId, fate, destination, source, attempts, networkError, smscMessageId } = messageView(message);
  const requested = entry(message.at, 'code.requested', 'rest', {
    summary: `A code to ${destination} was requested.`,
    details: { messageId, destination, source, attempts, fate },
  });
  const made = (message.attemptLog ?? []).map((attempt) => attemptEntry(messageId, attempt));
  if (message.endedAt === null) return [requested, ...made];
  const because = networkError === null ? '' : `: ${networkError}`;
  const isReceipt = fate === 'delivered' || fate === 'undelivered';
  const end = entry(message.endedAt, isReceipt ? 'code.receipt' : 'code.failed', 'smpp', {
    summary: isReceipt ? `The carrier reported the code as ${fate}${because}.` : `The code was given up${because}.`,
    details: { messageId, fate, networkError, smscMessageId },
  });
  return [requested, ...made, end];
}

function attemptEntry(messageId: string, made: Attempt): Entry {
  const shown = attemptView(made);
  const over = `${made.linkKind === 'sys' ? 'system' : 'bind'} ${made.linkName ?? 'that was deleted'}`;
  const slot = made.slot === null ? '' : `, connection ${made.slot}`;
  const result = made.outcome === null ? 'is under way' : OUTCOME_SENTENCES[made.outcome];
  const reason = made.commandStatus ?? made.error;
  return entry(made.startedAt, 'code.attempt', 'smpp', {
    summary: `Attempt ${made.attempt} over ${over}${slot} ${result}${reason === null ? '' : ` (${reason})`}.`,
    details: { messageId, ...shown },
  });
}
