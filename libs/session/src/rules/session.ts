import type { Uuid } from '@countersign/ids';

/** Specification 3. Every status but `pending` is terminal. */
export const SESSION_STATUSES = ['pending', 'approved', 'expired', 'denied', 'cancelled'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** Specification 8. */
export const LONGEST_SESSION_MS = 300_000;

/**
 * A repeated request takes up the id of its first attempt when that is no older than this: a session, or its code, may be
 * made so much later than its id says.
 */
export const ID_TAKEN_UP_WITHIN_MS = 300_000;

/** Specification 2.1: the delivery path that the service chose. */
export type Channel = 'rcs' | 'sms_fallback';

/** What approved a session: an SMS from the phone, the card's button or an accepted code. */
export type ApprovedBy = 'mo' | 'rcs' | 'otp';

/**
 * The caller's key-value pairs in the order they were given. Pairs and not an object, because an object moves
 * integer-like keys to the front and swallows `__proto__`.
 */
export type Metadata = readonly (readonly [key: string, value: string])[];

/**
 * A verification session as it stands at the moment of reading: a pending row past `expiresAt` reads as `expired`,
 * with `endedAt` equal to `expiresAt`. All times have millisecond precision and come from the database's clock.
 */
export interface Session {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** E.164. */
  readonly phone: string;
  /** ISO 3166-1 alpha-2, or `001` for a phone that belongs to no country. */
  readonly country: string;
  /** Made by a test key: nothing of it leaves the building. */
  readonly test: boolean;
  readonly status: SessionStatus;
  readonly channel: Channel;
  /** 64 hex digits in the caller's own case. */
  readonly clientChallenge: string;
  readonly brandSlug: string;
  readonly brandName: string;
  /** The sender of codes where a route names none; null for the inbound number. */
  readonly otpSender: string | null;
  /** The site that a phone may fill a code into; null for none. */
  readonly otpDomain: string | null;
  readonly instruction: string;
  /** E.164 or a short code: where the phone sends its SMS. */
  readonly inboundNumber: string;
  readonly webhookUrl: string | null;
  readonly allowSmsOtp: boolean;
  readonly metadata: Metadata;
  readonly entropyKeyVersion: number;
  /** Version of the master key that its token and the buttons of its card are derived with. */
  readonly keyVersion: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The moment of the terminal transition; null while pending. */
  readonly endedAt: Date | null;
}

/** A session without its metadata, which rows hold as the very JSON text that goes out. */
export type PlainSession = Omit<Session, 'metadata'>;
