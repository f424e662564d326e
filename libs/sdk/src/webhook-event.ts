import { isObject, isText } from './fields.js';
import { isSession, type ApprovedSession, type Session, type UnapprovedSession } from './session.js';

/** Fields of every event. */
export interface EventFields {
  /** The same on every attempt and replay: store the ids that you have processed. */
  readonly id: string;
  /** When the event happened. */
  readonly timestamp: string;
}

export interface CompletedEvent extends EventFields {
  readonly type: 'verification.completed';
  readonly data: ApprovedSession;
}

/** Opt-in, except `completed`. The session at that time. */
export interface EndedEvent extends EventFields {
  readonly type: 'verification.denied' | 'verification.expired' | 'verification.cancelled';
  readonly data: UnapprovedSession;
}

/** The session's token was sent from another phone. Opt-in. */
export interface SenderMismatchEvent extends EventFields {
  readonly type: 'verification.sender_mismatch';
  readonly data: { readonly sessionId: string; readonly accountId: string; readonly brandId: string };
}

/** The delivery state of a code by SMS. Opt-in. */
export interface OtpDeliveryEvent extends EventFields {
  readonly type: 'verification.otp_delivery';
  readonly data: {
    readonly sessionId: string;
    readonly messageId: string;
    readonly state: 'submitted' | 'delivered' | 'undelivered' | 'failed';
    /** As reported by the carrier. */
    readonly networkError?: string;
  };
}

export interface TestEvent extends EventFields {
  readonly type: 'webhook.test';
  readonly data: { readonly accountId: string };
}

/** The account's default URL accepted nothing for days, and receives nothing more until it is set again. */
export interface DisabledEvent extends EventFields {
  readonly type: 'webhook.disabled';
  readonly data: { readonly accountId: string; readonly url: string; readonly reason: string };
}

/** A type that this version does not know, or a known type with other data: answer 2xx and ignore it. */
export interface UnknownEvent extends EventFields {
  readonly type: 'unknown';
  readonly originalType: string;
  readonly data: unknown;
}

export type WebhookEvent =
  CompletedEvent | EndedEvent | SenderMismatchEvent | OtpDeliveryEvent | TestEvent | DisabledEvent | UnknownEvent;

/** Parses the body of a genuine webhook; null when it is not even an envelope. `id` is the header's. */
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

/** Events without a session. Null for other types, and for other data. */
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
