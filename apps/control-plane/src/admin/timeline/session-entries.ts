import type { SessionRefusal } from '@countersign/carriers/destinations';
import { idTimeMs, renderId } from '@countersign/ids';
import type { CardEventRecord, CardRecord } from '@countersign/rcs/offers';
import { sessionOfRecord } from '@countersign/session';
import type { ApprovedBy, SessionStatus } from '@countersign/session/rules';
import type { AttemptRecord } from '../../webhooks/attempt.js';
import { maskUrlsIn } from '../crud/people.js';
import type { SessionWithCard } from '../sessions/session.records.js';
import { entry, type Entry } from './entry.js';
import type { SessionEventRow } from './timeline.sql.js';
import type { TIMELINE_SOURCES } from './timeline.view.js';

/** Attempts of one webhook that are shown: the latest. */
export const WEBHOOK_ATTEMPTS_SHOWN = 20;

const APPROVALS: Readonly<Record<ApprovedBy, readonly [source: (typeof TIMELINE_SOURCES)[number], by: string]>> = {
  mo: ['smpp', 'an SMS from its phone'],
  rcs: ['rcs', 'a tap on its card'],
  otp: ['rest', 'a code'],
};
const ENDS: Readonly<Record<string, readonly [source: (typeof TIMELINE_SOURCES)[number], summary: string]>> = {
  denied: ['rcs', 'The session was denied by a tap on its card.'],
  cancelled: ['rest', 'The session was cancelled by its caller.'],
  expired: ['clock', 'The session expired.'],
};

/** The creation, the checks of codes, the end and the consumption of a session. */
export function sessionEntries(record: SessionWithCard): Entry[] {
  const session = sessionOfRecord(record);
  const { phone, country, inboundNumber, allowSmsOtp, brandSlug } = session;
  const created = entry(session.createdAt, 'session.created', 'rest', {
    summary: `The session for ${phone} was created; its SMS goes to ${inboundNumber}.`,
    details: {
      accountId: renderId('acct', session.accountId),
      brandId: renderId('brd', session.brandId),
      brandSlug,
      phone,
      country,
      inboundNumber,
      allowSmsOtp,
      expiresAt: session.expiresAt.toISOString(),
    },
  });
  return [created, ...checksOf(record), ...endOf(session, record.approvedBy), ...consumptionOf(record)];
}

/** Only the number of checks is stored: the entry has the time of the approval, else of the last code that was sent. */
function checksOf({
  otpAttempts,
  otpAttemptLimit,
  otpSentAt,
  approvedBy,
  endedAt,
  createdAt,
}: SessionWithCard): Entry[] {
  if (otpAttempts === 0) return [];
  const accepted = approvedBy === 'otp';
  return [
    entry((accepted ? endedAt : null) ?? otpSentAt ?? createdAt, 'code.checks', 'rest', {
      summary: `${otpAttempts} of at most ${otpAttemptLimit} codes were checked${accepted ? ', the last of which was accepted' : ' and were wrong'}; their times are not stored.`,
      details: { checks: otpAttempts, limit: otpAttemptLimit, accepted },
    }),
  ];
}

function endOf(
  { status, endedAt }: { readonly status: SessionStatus; readonly endedAt: Date | null },
  approvedBy: ApprovedBy | null,
): Entry[] {
  if (endedAt === null) return [];
  const details = { status, approvedBy };
  if (approvedBy !== null) {
    const [source, by] = APPROVALS[approvedBy];
    return [entry(endedAt, 'session.approved', source, { summary: `The session was approved by ${by}.`, details })];
  }
  const [source, summary] = ENDS[status] ?? ['rest', `The session is ${status}.`];
  return [entry(endedAt, `session.${status}`, source, { summary, details })];
}

function consumptionOf({ consumptionId }: SessionWithCard): Entry[] {
  if (consumptionId === null) return [];
  const summary = 'The approved session was consumed by its caller.';
  return [entry(new Date(idTimeMs(consumptionId)), 'session.consumed', 'rest', { summary, details: {} })];
}

export function refusalEntry({ rule, refused, firstAt, lastAt }: SessionRefusal): Entry {
  const times = refused === 1 ? 'once' : `${refused} times`;
  return entry(firstAt, 'code.refused', 'guard', {
    summary: `The guard refused to send a code ${times}, by its rule ${rule}.`,
    details: { rule, refused, firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() },
  });
}

/** A card, and the platform's events of it. */
export function cardEntries(card: CardRecord, events: readonly CardEventRecord[]): Entry[] {
  const { agentId, state, refusal, finalChannel: settledAs, numberMatching } = card;
  const offered = entry(card.createdAt, 'card.offered', 'rcs', {
    summary: `A card of the agent ${agentId} was offered to the gateways; its state is ${state}${refusal === null ? '' : ` (${refusal})`}.`,
    details: { agentId, state, reason: refusal, settledAs, numberMatching },
  });
  const sent = { summary: 'The platform accepted the card.', details: { agentId } };
  const ofPlatform = events.map((event) =>
    entry(event.receivedAt, `card.${event.kind}`, 'rcs', {
      summary: `The platform reported ${event.kind}${event.choice === null ? '' : ` of ${event.choice}`}: ${event.outcome ?? 'not processed yet'}.`,
      details: { choice: event.choice, outcome: event.outcome, occurredAt: event.occurredAt.toISOString() },
    }),
  );
  return [offered, ...(card.sentAt === null ? [] : [entry(card.sentAt, 'card.sent', 'rcs', sent)]), ...ofPlatform];
}

/** The broadcast of an event, and the attempts of its webhook. */
export function eventEntries({ id, type, occurredAt, dispatchedAt, ...delivery }: SessionEventRow): Entry[] {
  const eventId = renderId('evt', id);
  const details = { eventId, type, occurredAt: occurredAt.toISOString() };
  const broadcast =
    dispatchedAt === null
      ? entry(occurredAt, 'event.pending', 'realtime', { summary: `The event ${type} is not dispatched yet.`, details })
      : entry(dispatchedAt, 'event.broadcast', 'realtime', {
          summary: `The event ${type} was dispatched and broadcast to its WebSocket subscribers.`,
          details,
        });
  const { url, status, attempts, nextAttemptAt } = delivery;
  if (url === null || attempts === null) return [broadcast];
  const about = {
    deliveryId: renderId('dlv', id),
    eventId,
    type,
    url: maskUrlsIn(url),
    deliveryStatus: status,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
  if (attempts.length > 0)
    return [broadcast, ...attempts.slice(-WEBHOOK_ATTEMPTS_SHOWN).map((attempt) => webhookEntry(about, attempt))];
  const summary = `The webhook of ${type} to ${about.url} is ${status ?? 'pending'}, without an attempt yet.`;
  return [broadcast, entry(dispatchedAt ?? occurredAt, 'webhook.due', 'webhook', { summary, details: about })];
}

function webhookEntry(
  about: { readonly type: string; readonly url: string },
  { at, status, latencyMs, error }: AttemptRecord,
): Entry {
  const result = status === null ? `failed with ${error ?? 'no response'}` : `was answered ${status}`;
  return entry(new Date(at), 'webhook.attempt', 'webhook', {
    summary: `A POST of ${about.type} to ${about.url} ${result} after ${latencyMs} ms.`,
    details: { ...about, status, latencyMs, error: error ?? null },
  });
}
