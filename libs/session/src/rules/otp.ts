import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { SessionStatus } from './session.js';
import { statusAt, type SessionState } from './transition.js';

/** Specification 8. */
export const CODE_LENGTH = 6;
/** Codes that one session sends at most; all of them stay good until it ends. */
export const MAX_CODES = 3;
/** Wrong codes of a session at most, unless it was created with fewer. Sending another code does not reset the count. */
export const MAX_ATTEMPTS = 5;
/** Between two codes of one session. */
export const RESEND_COOLDOWN_SECONDS = 30;

/**
 * A new code, leading zeros kept.
 *
 * @param randomBelow a whole number from 0 up to, but not, its limit, from a generator fit for secrets
 */
export function generateCode(randomBelow: (limit: number) => number): string {
  return String(randomBelow(10 ** CODE_LENGTH)).padStart(CODE_LENGTH, '0');
}

/** What is stored in place of a code: 32 bytes under a server key, over the session too, so that no two rows compare. */
export function codeDigest(keys: ServerKeys, sessionId: Uuid, code: string): Buffer {
  return keys.digest('otp-code', `${sessionId}:${code}`);
}

/** The digests under which a code may be stored: one for each version of the master key. */
export function codeDigests(keys: ServerKeys, sessionId: Uuid, code: string): readonly Buffer[] {
  return keys.digests('otp-code', `${sessionId}:${code}`);
}

/** Whether one of the digests is stored. All pairs are compared, so the time shows neither which nor whether. */
export function isAmong(digests: readonly Buffer[], stored: readonly Buffer[]): boolean {
  const pairs = digests.flatMap((digest) => stored.map((each) => digestsEqual(digest, each)));
  return pairs.includes(true);
}

/** The text of the SMS (contract, OTP). With a domain its last line is the one that phones fill in for that site alone. */
export function otpText(brandName: string, domain: string | null, code: string): string {
  const text = `${code} is your ${brandName} code. Do not share it.`;
  return domain === null ? text : `${text}\n@${domain} #${code}`;
}

/** What the rules of codes need to know of a session. */
export interface CodeState extends SessionState {
  readonly allowSmsOtp: boolean;
  /** Codes sent so far. */
  readonly sends: number;
  /** Codes tried so far. A right one ends the session, so these were wrong. */
  readonly attempts: number;
  /** Wrong codes that it takes at most. */
  readonly attemptLimit: number;
}

/** Why a session takes part in no codes at all. */
export type CodesRefused =
  | { readonly kind: 'expired'; readonly at: Date }
  | { readonly kind: 'not_pending'; readonly status: Exclude<SessionStatus, 'pending' | 'expired'> }
  | { readonly kind: 'otp_disabled' };

/** Why a code is not looked at: none was sent, or too many were wrong. */
export type CheckRefused =
  CodesRefused | { readonly kind: 'not_sent' } | { readonly kind: 'too_many'; readonly retryAfterSeconds: number };

/**
 * Whether a session may send a code, before anything is asked about its destination; in the contract's order of errors.
 *
 * @param nowMs the database's clock, read after the row was locked
 */
export function judgeSend(state: CodeState, nowMs: number): CodesRefused | null {
  const status = statusAt(state, nowMs);
  if (status === 'expired') return { kind: 'expired', at: new Date(state.expiresAtMs) };
  if (status !== 'pending') return { kind: 'not_pending', status };
  return state.allowSmsOtp ? null : { kind: 'otp_disabled' };
}

/** Whether a well-formed code may be tried; the same way. */
export function judgeCheck(state: CodeState, nowMs: number): CheckRefused | null {
  const refused = judgeSend(state, nowMs);
  if (refused !== null) return refused;
  if (state.sends === 0) return { kind: 'not_sent' };
  if (state.attempts < state.attemptLimit) return null;
  return { kind: 'too_many', retryAfterSeconds: secondsUntil(state.expiresAtMs, nowMs) };
}

/** A session that may send a code, as `codeLimit` needs it. */
export interface CodeHistory {
  readonly session: { readonly expiresAt: Date };
  /** The clock's reading under the lock. */
  readonly now: Date;
  readonly sends: number;
  /** When the last code was sent; null for none. */
  readonly sentAt: Date | null;
}

export interface CodeLimit {
  readonly kind: 'send_limit' | 'cooldown';
  /** At least 1. */
  readonly retryAfterSeconds: number;
}

/** What keeps a session from sending one code more: all are spent until it expires, or the last is too recent. */
export function codeLimit({ session, now, sends, sentAt }: CodeHistory): CodeLimit | null {
  const nowMs = now.getTime();
  if (sends >= MAX_CODES) {
    return { kind: 'send_limit', retryAfterSeconds: secondsUntil(session.expiresAt.getTime(), nowMs) };
  }
  const freeAtMs = sentAt === null ? nowMs : sentAt.getTime() + RESEND_COOLDOWN_SECONDS * 1000;
  return freeAtMs > nowMs ? { kind: 'cooldown', retryAfterSeconds: secondsUntil(freeAtMs, nowMs) } : null;
}

/** Whole seconds that a caller is told to wait: never too few, and never none. */
function secondsUntil(thenMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((thenMs - nowMs) / 1000));
}
