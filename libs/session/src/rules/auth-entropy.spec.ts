import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authEntropy, type EntropyKeys } from './auth-entropy.js';

interface Vectors {
  readonly label: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly vectors: readonly {
    readonly name: string;
    readonly keyVersion: number;
    readonly phone: string;
    readonly accountId: string;
    readonly brandId: string;
    readonly authEntropy: string;
  }[];
}

const published = JSON.parse(
  readFileSync(new URL('../../test-vectors/auth-entropy.json', import.meta.url), 'utf8'),
) as Vectors;

const KEYS: EntropyKeys = new Map(
  Object.entries(published.keys).map(([version, hex]) => [Number(version), Buffer.from(hex, 'hex')]),
);

/** HMAC-SHA256 by RFC 2104 on the bare hash, and P by hand: nothing here is taken from the code under test. */
function fromTheDefinition(key: Uint8Array, parts: readonly string[]): string {
  const message = parts.flatMap((part) => {
    const bytes = [...new TextEncoder().encode(part)];
    const { length } = bytes;
    return [(length >>> 24) & 255, (length >>> 16) & 255, (length >>> 8) & 255, length & 255, ...bytes];
  });
  const sha256 = (bytes: readonly number[]): number[] => [
    ...createHash('sha256').update(Uint8Array.from(bytes)).digest(),
  ];
  const block = Array.from({ length: 64 }, (_, index) => key[index] ?? 0);
  const inner = sha256([...block.map((byte) => byte ^ 0x36), ...message]);
  return Buffer.from(sha256([...block.map((byte) => byte ^ 0x5c), ...inner])).toString('hex');
}

describe('authEntropy', () => {
  it.each(published.vectors)('is as published for $name', (vector) => {
    const { keyVersion, phone, accountId, brandId } = vector;
    const key = KEYS.get(keyVersion) ?? Buffer.alloc(0);
    expect(fromTheDefinition(key, [published.label, phone, accountId, brandId])).toBe(vector.authEntropy);
    expect(authEntropy(KEYS, keyVersion, phone, accountId, brandId)).toBe(vector.authEntropy);
  });

  it('agrees with the definition for any texts', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), text, text, text, (key, phone, account, brand) => {
        const keys = new Map([[7, Buffer.from(key)]]);
        expect(authEntropy(keys, 7, phone, account, brand)).toBe(
          fromTheDefinition(key, [published.label, phone, account, brand]),
        );
      }),
    );
  });

  it('does not confuse where one part ends and the next begins', () => {
    expect(authEntropy(KEYS, 1, '+12', 'acct_1', 'brd_1')).not.toBe(authEntropy(KEYS, 1, '+12a', 'cct_1', 'brd_1'));
  });

  it('refuses a version that is not configured', () => {
    expect(() => authEntropy(KEYS, 3, '+14155552671', 'acct_1', 'brd_1')).toThrow('version 3');
  });
});
