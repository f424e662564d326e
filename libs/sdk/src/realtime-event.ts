import { isObject, isText, isTextOrNull } from './fields.js';
import type { EventFrame } from './realtime-frame.js';
import { hasTestMark, type Channel, type SessionStatus } from './session.js';
import {
  otherEvent,
  type DisabledEvent,
  type EventFields,
  type OtpDeliveryEvent,
  type SenderMismatchEvent,
  type TestEvent,
  type UnknownEvent,
} from './webhook-event.js';

/**
 * The fields of a session that a ticket shows: no phone, no metadata, no `authEntropy`. A full Session is one too.
 */
export interface SessionView {
  readonly id: string;
  readonly status: SessionStatus;
  readonly channel: Channel;
  readonly fallbackUri: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly approvedAt: string | null;
  readonly latencyMs: number | null;
  /** Present only on sessions of test keys: nobody was verified. */
  readonly test?: true;
}

/** The session changed: `updated` when a code was sent or its receipt arrived, the others when it ended. */
export interface SessionEvent<View extends SessionView> extends EventFields {
  readonly type:
    | 'verification.completed'
    | 'verification.denied'
    | 'verification.expired'
    | 'verification.cancelled'
    | 'verification.updated';
  readonly data: View;
}

export type LiveEvent<View extends SessionView = SessionView> =
  SessionEvent<View> | SenderMismatchEvent | OtpDeliveryEvent | TestEvent | DisabledEvent | UnknownEvent;

/** The event of a frame; `isView` is the guard for the sessions that this connection sees. */
export function liveEventOf<View extends SessionView>(
  { id, event: type, timestamp, data }: EventFrame,
  isView: (value: unknown) => value is View,
): LiveEvent<View> {
  const fields = { id, timestamp };
  const unknown = { ...fields, type: 'unknown', originalType: type, data } as const;
  if (isSessionEvent(type)) return isView(data) ? { ...fields, type, data } : unknown;
  return (isObject(data) ? otherEvent(fields, type, data) : null) ?? unknown;
}

/** Whether the event contains a session. */
export function isSessionEvent(type: string): type is SessionEvent<SessionView>['type'] {
  return SESSION_EVENTS.has(type);
}

const SESSION_EVENTS: ReadonlySet<string> = new Set([
  'verification.completed',
  'verification.denied',
  'verification.expired',
  'verification.cancelled',
  'verification.updated',
]);
const STATUSES: ReadonlySet<unknown> = new Set(['pending', 'approved', 'expired', 'denied', 'cancelled']);

export function isSessionView(value: unknown): value is SessionView {
  if (!isObject(value)) return false;
  const { id, status, channel, fallbackUri, expiresAt, createdAt, approvedAt, latencyMs } = value;
  return (
    [id, expiresAt, createdAt].every(isText) &&
    [fallbackUri, approvedAt].every(isTextOrNull) &&
    STATUSES.has(status) &&
    (channel === 'rcs' || channel === 'sms_fallback') &&
    (latencyMs === null || typeof latencyMs === 'number') &&
    hasTestMark(value)
  );
}
