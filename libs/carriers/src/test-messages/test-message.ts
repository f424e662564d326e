import type { Uuid } from '@countersign/ids';
import { count, instant, oneOf, orNull, parseStatus, text, type StatusFields } from '../status/stored-status.js';

/** Test messages of an installation in an hour: each costs what a code costs, and no cap of an account counts it. */
export const MAX_AN_HOUR = 20;
/** A gateway sends one within this time, or never. */
export const SENT_WITHIN_SECONDS = 10;

export const TEST_MESSAGE_STATES = ['accepted', 'refused', 'unanswered', 'not_sent'] as const;

/** The result of a test message. Times are RFC 3339. */
export interface TestMessageResult {
  readonly state: (typeof TEST_MESSAGE_STATES)[number];
  /** The connection of the bind, by number; null when it was not sent. */
  readonly slot: number | null;
  /** The carrier's id of the message; null unless accepted, and where the carrier gives none. */
  readonly smscMessageId: string | null;
  /** The SMPP status, or why there is none; null when accepted. */
  readonly error: string | null;
  readonly sentAt: string | null;
  readonly answeredAt: string | null;
}

/** A test message that a gateway has claimed. */
export interface ClaimedTestMessage {
  readonly id: Uuid;
  readonly bindId: Uuid;
  /** E.164. */
  readonly phone: string;
  /** E.164, a short code, or alphanumeric. */
  readonly source: string;
  readonly createdAt: Date;
}

/** The result of one that was not sent, and will not be. */
export const notSent = (error: string): TestMessageResult => ({
  ...{ state: 'not_sent', slot: null, smscMessageId: null, error, sentAt: null, answeredAt: null },
});

/** The result of one of which no more is known. */
export const UNKNOWN_RESULT: TestMessageResult = {
  ...notSent('the gateway has not recorded what became of it'),
  state: 'unanswered',
};

const FIELDS: StatusFields<TestMessageResult> = {
  state: oneOf(TEST_MESSAGE_STATES),
  slot: orNull(count),
  smscMessageId: orNull(text),
  error: orNull(text),
  sentAt: orNull(instant),
  answeredAt: orNull(instant),
};

/** A stored result: unchecked JSON. */
export const parseResult = (stored: unknown): TestMessageResult => parseStatus(FIELDS, UNKNOWN_RESULT, stored);

/** The text is fixed, so that a test cannot carry a message of the caller. Its mark is found on the phone. */
export function testMessageText({ id, createdAt }: Pick<ClaimedTestMessage, 'id' | 'createdAt'>): string {
  const mark = id.slice(-4).toUpperCase();
  const minute = createdAt.toISOString().slice(0, 16).replace('T', ' ');
  return `Test message ${mark} of Countersign, ${minute} UTC. No action is needed.`;
}
