import type { Uuid } from '@countersign/ids';

/** Event types of a session (contract, Webhooks). */
export const SESSION_EVENT_TYPES = [
  'verification.completed',
  'verification.denied',
  'verification.expired',
  'verification.cancelled',
  'verification.sender_mismatch',
  'verification.otp_delivery',
] as const;

/** All event types: the last two concern an account, not a session. */
export const EVENT_TYPES = [...SESSION_EVENT_TYPES, 'webhook.test', 'webhook.disabled'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Always sent to a webhook. The other session events are opt-in. */
export const ALWAYS_SENT: readonly EventType[] = ['verification.completed', 'webhook.test'];

/** Events whose data is stored in their row. The data of all others is the Session, as GET returns it (contract, Webhooks). */
export const HAS_STORED_DATA: ReadonlySet<string> = new Set<EventType>([
  'verification.sender_mismatch',
  'verification.otp_delivery',
  'webhook.test',
  'webhook.disabled',
]);

/** Whether the data of an event is the Session. */
export const showsSession = (type: string): boolean => !HAS_STORED_DATA.has(type);

/** An event to write, in the transaction of its change. */
export interface NewEvent {
  readonly id: Uuid;
  readonly type: EventType;
  readonly accountId: Uuid;
  /** Whether it is of test mode: about a test session, or requested with a test key. */
  readonly test: boolean;
  /** Null for an event of an account. */
  readonly sessionId: Uuid | null;
  readonly occurredAt: Date;
  /**
   * JSON text, stored unchanged: never `authEntropy`, never `fallbackUri`. Null where the data of the event is the Session: its
   * row shows it, because a session that has ended does not change.
   */
  readonly data: string | null;
  /** The session's own webhook URL, or the URL under test; null for the default of the account and mode. */
  readonly sessionWebhookUrl: string | null;
}

/** An event as its row has it. */
export interface StoredEvent {
  readonly id: Uuid;
  readonly type: EventType;
  readonly accountId: Uuid;
  readonly test: boolean;
  /** Null for an event of an account. */
  readonly sessionId: Uuid | null;
  readonly occurredAt: Date;
  /** JSON text, as it was written; null where the data of the event is the Session. */
  readonly data: string | null;
}

/** An event that a dispatcher has claimed. */
export interface DueEvent extends StoredEvent {
  /** As in the row; null also where it is too long. */
  readonly data: string | null;
  /** The destination, fixed when the event was written; null without a subscriber. */
  readonly webhookUrl: string | null;
}
