import { randomBytes } from 'node:crypto';
import { digestsEqual, type ServerKeys } from '@countersign/keys';

const RANDOM_OCTETS = 24;
const TAG_OCTETS = 8;
const COOKIE = /^[A-Za-z0-9_-]{43}$/;

/**
 * A new cookie: 192 random bits, and 64 bits of a keyed digest of them. The tag proves nothing about a session: it lets a cookie
 * that nobody was given be refused without the database.
 */
export function newSessionCookie(keys: ServerKeys): string {
  const random = randomBytes(RANDOM_OCTETS);
  return Buffer.concat([random, tagOf(keys.digest('console-cookie', textOf(random)))]).toString('base64url');
}

/** Whether a text was a cookie once, under any version of the master key. */
export function isSessionCookie(keys: ServerKeys, cookie: string): boolean {
  if (!COOKIE.test(cookie)) return false;
  const octets = Buffer.from(cookie, 'base64url');
  const [random, tag] = [octets.subarray(0, RANDOM_OCTETS), octets.subarray(RANDOM_OCTETS)];
  return keys.digests('console-cookie', textOf(random)).some((digest) => digestsEqual(tagOf(digest), tag));
}

const textOf = (random: Buffer): string => random.toString('base64url');

const tagOf = (digest: Buffer): Buffer => digest.subarray(0, TAG_OCTETS);
