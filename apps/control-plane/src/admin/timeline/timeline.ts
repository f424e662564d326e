import type { MessageRecord } from '@countersign/carriers/messages';
import type { Uuid } from '@countersign/ids';
import { renderId } from '@countersign/ids';
import { maskPhone } from '@countersign/phone';
import type { Plain } from '../crud/plain.js';
import type { TracedPduView } from '../trace/trace.view.js';
import { inboundEntry, outboundEntries } from './message-entries.js';
import { cardEntries, eventEntries, refusalEntry, sessionEntries, WEBHOOK_ATTEMPTS_SHOWN } from './session-entries.js';
import { CARD_EVENTS_SHOWN, EVENTS_SHOWN, MESSAGES_SHOWN, type TimelineRecord } from './timeline.records.js';
import type { SessionTimeline } from './timeline.view.js';

/** Entries of one timeline: the oldest are shown. */
const MAX_ENTRIES = 500;

/** The PDU of an MO, if a trace still has it. */
export type PduOf = (message: MessageRecord) => Plain<TracedPduView> | null;

/** The timeline of a session, oldest first. Entries of one millisecond keep the order in which such things happen. */
export function timelineOf(record: TimelineRecord, pduOf: PduOf): Plain<SessionTimeline> {
  const { session, messages, cardEvents, refusals, events } = record;
  const inbound = messages.filter(({ direction }) => direction === 'in');
  const outbound = messages.filter(({ direction }) => direction === 'out');
  const [created, ...changes] = sessionEntries(session);
  const entries = [
    ...(created === undefined ? [] : [created]),
    ...(session.card === null ? [] : cardEntries(session.card, cardEvents.slice(0, CARD_EVENTS_SHOWN))),
    ...inbound
      .slice(0, MESSAGES_SHOWN)
      .map((message) => inboundEntry(message, arrivalOf(session, message), pduOf(message))),
    ...outbound.slice(0, MESSAGES_SHOWN).flatMap(outboundEntries),
    ...refusals.map(refusalEntry),
    ...changes,
    ...events.slice(0, EVENTS_SHOWN).flatMap(eventEntries),
  ].sort((one, other) => one.atMs - other.atMs);
  const truncated =
    entries.length > MAX_ENTRIES ||
    inbound.length > MESSAGES_SHOWN ||
    outbound.length > MESSAGES_SHOWN ||
    cardEvents.length > CARD_EVENTS_SHOWN ||
    events.length > EVENTS_SHOWN ||
    outbound.some(({ attempts, attemptLog = [] }) => (attempts ?? 0) > attemptLog.length) ||
    events.some(({ attempts }) => (attempts?.length ?? 0) > WEBHOOK_ATTEMPTS_SHOWN);
  const data = entries.slice(0, MAX_ENTRIES).map(({ shown }) => shown);
  return { sessionId: renderId('sess', session.id), data, truncated };
}

/** When an MO had arrived: the time of its row is that of its storing, which is after the approval by it. */
function arrivalOf(session: TimelineRecord['session'], { fate, at }: MessageRecord): Date {
  const { status, endedAt } = session;
  const approves = fate === 'matched' && status === 'approved' && endedAt !== null;
  return approves && endedAt < at ? endedAt : at;
}

/** A recorded PDU of a bind. */
export interface BindPdu {
  readonly bindId: Uuid;
  readonly pdu: Plain<TracedPduView>;
}

/** Time from the arrival of a PDU until its message is stored, and the difference of two clocks. */
const STORED_WITHIN_MS = 10_000;
const CLOCK_DIFFERENCE_MS = 1_000;
const FROM_PHONES: ReadonlySet<string | null> = new Set(['deliver_sm', 'data_sm']);

interface Arrival {
  readonly pdu: Plain<TracedPduView>;
  readonly atMs: number;
}

/**
 * The PDU from the sender of an MO that arrived last before it was stored, over its bind. The PDUs are those that the role may
 * see, with masked numbers.
 */
export function pduFinder(recorded: readonly BindPdu[]): PduOf {
  const arrivals = arrivalsBySender(recorded);
  return ({ linkId, source, at }) => {
    const senders = new Set([source, maskPhone(source)]);
    const fitting = [...senders].flatMap((sender) => arrivals.get(senderKey(linkId, sender)) ?? []);
    let nearest: Arrival | null = null;
    let nearestMs = Infinity;
    for (const arrival of fitting) {
      const sinceMs = at.getTime() - arrival.atMs;
      const fits = sinceMs >= -CLOCK_DIFFERENCE_MS && sinceMs <= STORED_WITHIN_MS;
      if (!fits || Math.abs(sinceMs) >= nearestMs) continue;
      nearest = arrival;
      nearestMs = Math.abs(sinceMs);
    }
    return nearest?.pdu ?? null;
  };
}

const senderKey = (bindId: Uuid | null, sender: string): string => `${bindId} ${sender}`;

function arrivalsBySender(recorded: readonly BindPdu[]): Map<string, Arrival[]> {
  const arrivals = new Map<string, Arrival[]>();
  for (const { bindId, pdu } of recorded) {
    const sender = senderOf(pdu);
    if (pdu.direction !== 'in' || !FROM_PHONES.has(pdu.command) || typeof sender !== 'string') continue;
    const key = senderKey(bindId, sender);
    const ofSender = arrivals.get(key);
    const arrival = { pdu, atMs: Date.parse(pdu.at) };
    if (ofSender === undefined) arrivals.set(key, [arrival]);
    else ofSender.push(arrival);
  }
  return arrivals;
}

/** Null for a PDU of another form. */
function senderOf({ fields }: Plain<TracedPduView>): unknown {
  const { sourceAddress = null } = fields as { readonly sourceAddress?: unknown };
  if (typeof sourceAddress !== 'object' || sourceAddress === null || !('value' in sourceAddress)) return null;
  return sourceAddress.value;
}
