import type { ServerKeys } from '@countersign/keys';

const DAY_MS = 24 * 60 * 60_000;
/** For so long a phone that approved a session of an account is known to the account. */
export const KNOWN_DAYS = 30;

/** A UTC day, `2024-05-01`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** The first UTC day on which an approval makes a phone known now: no approval of the last 30 days is left out. */
export const firstKnownDay = (nowMs: number): string => dayOf(nowMs - KNOWN_DAYS * DAY_MS);

/** The keyed digest by which a phone is counted. No table of the guard holds a number. */
export const phoneDigest = (keys: ServerKeys, e164: string): Buffer => keys.digest('otp-counter', e164);

/** The same under every version of the master key, the current one first. */
export const phoneDigests = (keys: ServerKeys, e164: string): readonly [Buffer, ...Buffer[]] =>
  keys.digests('otp-counter', e164);
