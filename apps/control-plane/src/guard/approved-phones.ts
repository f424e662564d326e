import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DAY_MS } from './traffic-slots.js';

/** Days for which a phone counts as known to an account after it approved a session of that account. */
export const KNOWN_DAYS = 30;

/** A UTC day, `2024-05-01`. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** The first UTC day on which an approval still makes a phone known; it includes all of the last 30 days. */
export const firstKnownDay = (nowMs: number): string => dayOf(nowMs - KNOWN_DAYS * DAY_MS);

/** The keyed digest of a phone in the guard's tables. None of them stores a phone number. */
export const phoneDigest = (keys: ServerKeys, e164: string): Buffer => keys.digest('otp-counter', e164);

/** The digests of a phone under every version of the master key, the current version first. */
export const phoneDigests = (keys: ServerKeys, e164: string): readonly [Buffer, ...Buffer[]] =>
  keys.digests('otp-counter', e164);

/** The key of a phone at an account in maps and sets. `phone` is the digest. */
export const phoneKey = ({ accountId, phone }: { readonly accountId: Uuid; readonly phone: Buffer }): string =>
  `${accountId}:${phone.toString('hex')}`;
