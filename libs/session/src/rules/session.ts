import type { Uuid } from '@countersign/ids';

/** Specification 3. Every status but `pending` is terminal. */
export const SESSION_STATUSES = ['pending', 'approved', 'expired', 'denied', 'cancelled'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** Specification 8. */
export const LONGEST_SESSION_MS = 300_000;

/**
 * A retried request reuses the id of its first attempt when that is at most this old: a session, or its code, may be
 * created this much later than the time in its id.
 */
export const ID_REUSE_WINDOW_MS = 300_000;

/** Specification 2.1: the delivery path chosen by the service. */
export type Channel = 'rcs' | 'sms_fallback';

/** The evidence that approved a session: an SMS from the phone, the card's button or an accepted code. */
export type ApprovedBy = 'mo' | 'rcs' | 'otp';

/**
 * The caller's key-value pairs in the given order. Pairs instead of an object, because an object moves integer-like
 * keys to the front and loses `__proto__`.
 */
export type Metadata = readonly (readonly [key: string, value: string])[];

/**
 * A verification session at the moment of reading: a pending row past `expiresAt` reads as `expired`, with `endedAt`
 * equal to `expiresAt`. All times have millisecond precision and come from the database's clock.
 */
export interface Session {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  /** E.164. */
  readonly phone: string;
  /** ISO 3166-1 alpha-2, or `001` for a phone without a country. */
  readonly country: string;
  /** Created with a test key: it never reaches a carrier or the RCS platform. */
  readonly test: boolean;
  readonly status: SessionStatus;
  readonly channel: Channel;
  /** 64 hex digits in the caller's own case. */
  readonly clientChallenge: string;
  readonly brandSlug: string;
  readonly brandName: string;
  /** Default sender of codes for routes without one; null for the inbound number. */
  readonly otpSender: string | null;
  /** The site on which phones fill in a code; null for none. */
  readonly otpDomain: string | null;
  readonly instruction: string;
  /** E.164 or a short code: the destination of the phone's SMS. */
  readonly inboundNumber: string;
  readonly webhookUrl: string | null;
  readonly allowSmsOtp: boolean;
  readonly metadata: Metadata;
  readonly entropyKeyVersion: number;
  /** Version of the master key from which its token and the buttons of its card are derived. */
  readonly keyVersion: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Time of the terminal transition; null while pending. */
  readonly endedAt: Date | null;
}

/** A session without its metadata, which rows hold as the JSON text that is sent out. */
export type PlainSession = Omit<Session, 'metadata'>;
