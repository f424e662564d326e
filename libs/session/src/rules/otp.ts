import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { SessionStatus } from './session.js';
import { statusAt, type SessionState } from './transition.js';

/** Specification 8. */
export const CODE_LENGTH = 6;
/** Maximum number of codes sent for one session; all of them stay valid until it ends. */
export const MAX_CODES = 3;
/** Limit of wrong codes per session, unless the guard sets a lower one. Sending another code does not reset the count. */
export const DEFAULT_ATTEMPT_LIMIT = 5;
/** Minimum time between two codes of one session. */
export const RESEND_COOLDOWN_SECONDS = 30;

/**
 * A new code, with leading zeros.
 *
 * @param randomBelow returns an integer from 0 to limit - 1, from a cryptographic generator
 */
export function generateCode(randomBelow: (limit: number) => number): string {
  return String(randomBelow(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, '0');
}

/**
 * The stored form of a code: a 32-byte keyed digest that includes the session id, so equal codes have different
 * digests.
 */
export function codeDigest(keys: ServerKeys, sessionId: Uuid, code: string): Buffer {
  return keys.digest('otp-code', `${sessionId}:${code}`);
}

/** The digests under which a code may be stored: one per version of the master key. */
export function codeDigests(keys: ServerKeys, sessionId: Uuid, code: string): readonly Buffer[] {
  return keys.digests('otp-code', `${sessionId}:${code}`);
}

/**
 * Whether one of the digests is stored. All pairs are compared, so the time reveals neither a match nor its position.
 *
 * @param stored elements that are no digests, which the role of gateways can write, match nothing
 */
export function matchesAnyDigest(digests: readonly Buffer[], stored: readonly unknown[]): boolean {
  const pairs = digests.flatMap((digest) => stored.map((each) => Buffer.isBuffer(each) && digestsEqual(digest, each)));
  return pairs.includes(true);
}

/**
 * The text of the SMS (contract, OTP). With a domain, the last line lets phones fill in the code on that site only.
 */
export function otpText(brandName: string, domain: string | null, code: string): string {
  const text = `${code} is your ${brandName} code. Do not share it.`;
  return domain === null ? text : `${text}\n@${domain} #${code}`;
}

/** The input of the code rules for one session. */
export interface CodeState extends SessionState {
  readonly allowSmsOtp: boolean;
  /** Codes sent so far. */
  readonly sends: number;
  /** Codes checked so far. A correct code ends the session, so all of these were wrong. */
  readonly attempts: number;
  /** Limit of wrong codes. */
  readonly attemptLimit: number;
}

/** The reason why a session neither sends nor checks codes. */
export type CodesRefused =
  | { readonly kind: 'expired'; readonly at: Date }
  | { readonly kind: 'not_pending'; readonly status: Exclude<SessionStatus, 'pending' | 'expired'> }
  | { readonly kind: 'otp_disabled' };

/** The reason why a code is not compared. */
export type CheckRefused =
  CodesRefused | { readonly kind: 'not_sent' } | { readonly kind: 'too_many'; readonly retryAfterSeconds: number };

/**
 * Whether a session takes codes at all: pending, not expired, codes allowed; in the contract's order of errors.
 *
 * @param nowMs the database's clock, read after the row was locked
 */
export function judgeCodes(state: CodeState, nowMs: number): CodesRefused | null {
  const status = statusAt(state, nowMs);
  if (status === 'expired') return { kind: 'expired', at: new Date(state.expiresAtMs) };
  if (status !== 'pending') return { kind: 'not_pending', status };
  return state.allowSmsOtp ? null : { kind: 'otp_disabled' };
}

/** Whether a well-formed code may be compared; in the contract's order of errors. */
export function judgeCheck(state: CodeState, nowMs: number): CheckRefused | null {
  const refused = judgeCodes(state, nowMs);
  if (refused !== null) return refused;
  if (state.sends === 0) return { kind: 'not_sent' };
  if (state.attempts < state.attemptLimit) return null;
  return { kind: 'too_many', retryAfterSeconds: secondsUntil(state.expiresAtMs, nowMs) };
}

/** A session that may send a code: the input of `codeLimit`. */
export interface CodeHistory {
  readonly session: { readonly expiresAt: Date };
  /** The clock, read under the row lock. */
  readonly now: Date;
  readonly sends: number;
  /** When the last code was sent; null if none was. */
  readonly sentAt: Date | null;
}

export interface CodeLimit {
  readonly kind: 'send_limit' | 'cooldown';
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** The limit that blocks another code: MAX_CODES until the session expires, or the cooldown after the last code. */
export function codeLimit({ session, now, sends, sentAt }: CodeHistory): CodeLimit | null {
  const nowMs = now.getTime();
  if (sends >= MAX_CODES) {
    return { kind: 'send_limit', retryAfterSeconds: secondsUntil(session.expiresAt.getTime(), nowMs) };
  }
  const freeAtMs = sentAt === null ? nowMs : sentAt.getTime() + RESEND_COOLDOWN_SECONDS * 1000;
  return freeAtMs > nowMs ? { kind: 'cooldown', retryAfterSeconds: secondsUntil(freeAtMs, nowMs) } : null;
}

/** Whole seconds until `thenMs`, rounded up, at least 1. */
function secondsUntil(thenMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((thenMs - nowMs) / 1000));
}
