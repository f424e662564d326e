import { isObject, isText } from './fields.js';
import { isSession, type ApprovedSession, type Session, type UnapprovedSession } from './session.js';

/** What every event has. */
export interface EventFields {
  /** The same on every attempt and replay: keep the ones that you have worked on. */
  readonly id: string;
  /** When it happened. */
  readonly timestamp: string;
}

export interface CompletedEvent extends EventFields {
  readonly type: 'verification.completed';
  readonly data: ApprovedSession;
}

/** Opt-in, but for `completed`. The session as it was then. */
export interface EndedEvent extends EventFields {
  readonly type: 'verification.denied' | 'verification.expired' | 'verification.cancelled';
  readonly data: UnapprovedSession;
}

/** The session's token came from another phone. Opt-in. */
export interface SenderMismatchEvent extends EventFields {
  readonly type: 'verification.sender_mismatch';
  readonly data: { readonly sessionId: string; readonly accountId: string; readonly brandId: string };
}

/** What became of a code by SMS. Opt-in. */
export interface OtpDeliveryEvent extends EventFields {
  readonly type: 'verification.otp_delivery';
  readonly data: {
    readonly sessionId: string;
    readonly messageId: string;
    readonly state: 'submitted' | 'delivered' | 'undelivered' | 'failed';
    /** As the carrier spells it. */
    readonly networkError?: string;
  };
}

export interface TestEvent extends EventFields {
  readonly type: 'webhook.test';
  readonly data: { readonly accountId: string };
}

/** The account's default URL took nothing for days, and nothing more is sent there until it is set again. */
export interface DisabledEvent extends EventFields {
  readonly type: 'webhook.disabled';
  readonly data: { readonly accountId: string; readonly url: string; readonly reason: string };
}

/** A kind that this version does not know, or one of its kinds with other data: answer 2xx and go on. */
export interface UnknownEvent extends EventFields {
  readonly type: 'unknown';
  readonly originalType: string;
  readonly data: unknown;
}

export type WebhookEvent =
  CompletedEvent | EndedEvent | SenderMismatchEvent | OtpDeliveryEvent | TestEvent | DisabledEvent | UnknownEvent;

/** A genuine body as an event; null when it is not even an envelope. `id` is the header's. */
export function readEvent(id: string, body: unknown): WebhookEvent | null {
  if (!isObject(body)) return null;
  const { type, timestamp, data } = body;
  if (!isText(type) || !isText(timestamp)) return null;
  const known = isObject(data) ? knownEvent({ id, timestamp }, type, data) : null;
  return known ?? { id, timestamp, type: 'unknown', originalType: type, data };
}

type Data = Readonly<Record<string, unknown>>;

function knownEvent(fields: EventFields, type: string, data: Data): WebhookEvent | null {
  switch (type) {
    case 'verification.completed':
      return isSession(data) && isApproved(data) ? { ...fields, type, data } : null;
    case 'verification.denied':
    case 'verification.expired':
    case 'verification.cancelled':
      return isSession(data) && !isApproved(data) ? { ...fields, type, data } : null;
    default:
      return otherEvent(fields, type, data);
  }
}

/** Those that do not carry a session. Null for the others, and for other data. */
export function otherEvent(
  fields: EventFields,
  type: string,
  data: Data,
): SenderMismatchEvent | OtpDeliveryEvent | TestEvent | DisabledEvent | null {
  switch (type) {
    case 'verification.sender_mismatch':
      return isMismatch(data) ? { ...fields, type, data } : null;
    case 'verification.otp_delivery':
      return isOtpDelivery(data) ? { ...fields, type, data } : null;
    case 'webhook.test':
      return isTest(data) ? { ...fields, type, data } : null;
    case 'webhook.disabled':
      return isDisabled(data) ? { ...fields, type, data } : null;
    default:
      return null;
  }
}

const isApproved = (session: Session): session is ApprovedSession => session.status === 'approved';

const isMismatch = (data: Data): data is Data & SenderMismatchEvent['data'] =>
  [data['sessionId'], data['accountId'], data['brandId']].every(isText);

const OTP_STATES: ReadonlySet<unknown> = new Set(['submitted', 'delivered', 'undelivered', 'failed']);

const isOtpDelivery = (data: Data): data is Data & OtpDeliveryEvent['data'] =>
  isText(data['sessionId']) && isText(data['messageId']) && OTP_STATES.has(data['state']);

const isTest = (data: Data): data is Data & TestEvent['data'] => isText(data['accountId']);

const isDisabled = (data: Data): data is Data & DisabledEvent['data'] =>
  [data['accountId'], data['url'], data['reason']].every(isText);
