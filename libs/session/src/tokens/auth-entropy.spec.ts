import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { MODES, type Mode } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { authEntropy, type EntropyKeys } from './auth-entropy.js';

interface Vectors {
  readonly labels: Readonly<Record<Mode, string>>;
  readonly keys: Readonly<Record<string, string>>;
  readonly vectors: readonly {
    readonly name: string;
    readonly keyVersion: number;
    readonly mode: Mode;
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

/** HMAC-SHA256 by RFC 2104 on the plain hash, and P written out: independent of the code under test. */
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
  it.each(published.vectors)('equals the published value for $name', (vector) => {
    const { keyVersion, mode, phone, accountId, brandId } = vector;
    const key = KEYS.get(keyVersion) ?? Buffer.alloc(0);
    expect(fromTheDefinition(key, [published.labels[mode], phone, accountId, brandId])).toBe(vector.authEntropy);
    expect(authEntropy(KEYS, keyVersion, { mode, phone, accountId, brandId })).toBe(vector.authEntropy);
  });

  it('agrees with the definition for any text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.record({ mode: fc.constantFrom(...MODES), phone: text, accountId: text, brandId: text }),
        (key, subject) => {
          const { mode, phone, accountId, brandId } = subject;
          const expected = fromTheDefinition(key, [published.labels[mode], phone, accountId, brandId]);
          expect(authEntropy(new Map([[7, Buffer.from(key)]]), 7, subject)).toBe(expected);
        },
      ),
    );
  });

  it('separates its parts', () => {
    const of = (phone: string, accountId: string): string =>
      authEntropy(KEYS, 1, { mode: 'live', phone, accountId, brandId: 'brd_1' });
    expect(of('+12', 'acct_1')).not.toBe(of('+12a', 'cct_1'));
  });

  it('differs between a test and a live session of the same phone, account and brand', () => {
    const of = (mode: Mode): string =>
      authEntropy(KEYS, 1, { mode, phone: '+14155552671', accountId: 'acct_1', brandId: 'brd_1' });
    expect(of('test')).not.toBe(of('live'));
  });

  it('throws for a version that is not configured', () => {
    expect(() =>
      authEntropy(KEYS, 3, { mode: 'live', phone: '+14155552671', accountId: 'acct_1', brandId: 'brd_1' }),
    ).toThrow('version 3');
  });
});
