import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';

/** A used key whose digest is under another version of the master key than the current one. */
export interface OutdatedDigest {
  readonly keyId: Uuid;
  /** The stored digest, so that a key rotated meanwhile is not changed. */
  readonly stored: Buffer;
  readonly current: Buffer;
  readonly currentVersion: number;
}

/** Renews the digests of keys: only a use contains the secret. */
export interface DigestRenewals {
  requestRenewal(outdated: OutdatedDigest): void;
}

/** A key found by one of its digests. */
export interface FoundDigest {
  readonly keyId: Uuid;
  /** The version of the master key of the stored digest. */
  readonly digestVersion: number;
}

/**
 * Null for a key that is stored under the current version.
 *
 * @param digests of the key's text under every version, in the order of the ring
 */
export function outdatedDigest(
  { currentVersion, versions }: ServerKeys,
  { keyId, digestVersion }: FoundDigest,
  digests: readonly Buffer[],
): OutdatedDigest | null {
  const [current] = digests;
  const stored = digests[versions.indexOf(digestVersion)];
  if (digestVersion === currentVersion || current === undefined || stored === undefined) return null;
  return { keyId, stored, current, currentVersion };
}

/** Digests as a cache key, and back. */
export const cacheKeyOf = (digests: readonly Buffer[]): string =>
  digests.map((digest) => digest.toString('base64')).join(' ');
export const digestsOfCacheKey = (key: string): Buffer[] => key.split(' ').map((each) => Buffer.from(each, 'base64'));
