/** The answer to a check of a code. `unknown`: none arrived, so it may have been counted. */
export type CheckAnswer = 'approved' | 'wrong' | 'refused' | 'unknown';

/** The answer to a cancel. `done`: 204, also for a session that has ended. */
export type CancelAnswer = 'done' | 'refused' | 'unknown';

/** A tap on the card. */
export interface CardTap {
  readonly choice: 'approve' | 'deny';
  /** When a gateway answered 200 to its event; null if none did. */
  acceptedAt: Date | null;
}

/** One session: what was done through the public interfaces, and what was answered. */
export interface SessionHistory {
  readonly phone: string;
  /** The different ids with which its create was answered; one idempotency key was used. */
  readonly ids: Set<string>;
  /** The command_status of each MO from the phone, with the token or without; null without a response. */
  readonly messages: (number | null)[];
  /** Codes that were sent to the phone, with the text of each SMS as often as the carrier received it. */
  readonly codes: string[];
  readonly checks: { readonly code: string; readonly answer: CheckAnswer }[];
  /** Whether a request for a code was answered 200. */
  codeAccepted: boolean;
  readonly cancels: CancelAnswer[];
  /** The tap on its card; null if there was none. */
  tap: CardTap | null;
  /** Statuses in answers to GET, in order; `expired` for 404 after a 200. */
  readonly statuses: string[];
  /** Values of `authEntropy` in answers and webhooks. */
  readonly entropies: Set<string>;
}

/** An event as a webhook or a realtime frame brought it. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly sessionId: string;
  readonly status: string;
}

/** All that the callers, phones, carrier and receivers have seen. */
export interface History {
  readonly sessions: readonly SessionHistory[];
  readonly webhooks: readonly ReceivedEvent[];
  readonly frames: readonly ReceivedEvent[];
  /** Whether the reader of the frames was told that it missed some. */
  readonly hasGap: boolean;
  /** `total` of `GET /v1/usage` after the last operation. */
  readonly usageTotal: number;
  /** Texts that are secret or a person's, and the files in which they were found. */
  readonly leaks: readonly { readonly file: string; readonly kind: string }[];
}

export const newSession = (phone: string): SessionHistory => ({
  phone,
  ids: new Set(),
  messages: [],
  codes: [],
  checks: [],
  codeAccepted: false,
  cancels: [],
  tap: null,
  statuses: [],
  entropies: new Set(),
});
