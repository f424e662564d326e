import { createHmac } from 'node:crypto';
import type { Mode } from '@countersign/keys';

/** Entropy keys by version, from 1. Versions are added, never replaced: existing brands keep their key. */
export type EntropyKeys = ReadonlyMap<number, Buffer>;

/** Labels by mode, so that a test session never yields the value that protects keys of a live user. */
const LABELS: Readonly<Record<Mode, string>> = {
  live: 'countersign/auth-entropy/v1',
  test: 'countersign/auth-entropy/test/v1',
};

/** The inputs of one value. */
export interface EntropySubject {
  readonly mode: Mode;
  /** E.164. */
  readonly phone: string;
  /** Rendered, `acct_…`. */
  readonly accountId: string;
  /** Rendered, `brd_…`. */
  readonly brandId: string;
}

/**
 * The `authEntropy` of an approved session (specification 2.1; contract, authEntropy): lower-case hex of
 * HMAC-SHA256(K, P(label) P(phone) P(accountId) P(brandId)), where P is a 4-byte big-endian length and UTF-8 bytes.
 * The label depends on the mode. Published vectors: `test-vectors/auth-entropy.json`.
 *
 * @param version the entropy key version of the brand; throws when no such key is configured
 */
export function authEntropy(keys: EntropyKeys, version: number, subject: EntropySubject): string {
  const { mode, phone, accountId, brandId } = subject;
  const key = keys.get(version);
  if (key === undefined) throw new RangeError(`no entropy key of version ${version} is configured`);
  const hmac = createHmac('sha256', key);
  for (const part of [LABELS[mode], phone, accountId, brandId]) hmac.update(lengthPrefixed(part));
  return hmac.digest('hex');
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const prefixed = Buffer.allocUnsafe(4 + bytes.length);
  prefixed.writeUInt32BE(bytes.length, 0);
  bytes.copy(prefixed, 4);
  return prefixed;
}
