import { ServerKeys } from '@countersign/keys';
import { newId } from '@countersign/ids';
import { describe, expect, it } from 'vitest';
import { deriveToken, TOKEN_ALPHABET, TOKEN_LENGTH, tokenDigest } from './token.js';

const keys = ServerKeys.fromMaster(Buffer.alloc(32, 1));
const ids = Array.from({ length: 2_000 }, (_, index) => newId(1_700_000_000_000 + index));

describe('deriveToken', () => {
  it('has 16 characters without I, L, O and U, and is deterministic', () => {
    for (const id of ids) {
      expect(deriveToken(keys, id)).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
      expect(deriveToken(keys, id)).toBe(deriveToken(keys, id));
    }
    expect(TOKEN_ALPHABET).toHaveLength(32);
    expect(TOKEN_LENGTH).toBe(16);
  });

  it('is the first 80 bits of the keyed digest, most significant first', () => {
    for (const id of ids.slice(0, 50)) {
      const number = BigInt(`0x${keys.digest('token', id).subarray(0, 10).toString('hex')}`);
      const expected = Array.from({ length: TOKEN_LENGTH }, (_, index) => {
        const shift = BigInt(5 * (TOKEN_LENGTH - 1 - index));
        return TOKEN_ALPHABET.charAt(Number((number >> shift) & 31n));
      });
      expect(deriveToken(keys, id)).toBe(expected.join(''));
    }
  });

  it('differs for every session, uses every character, and depends on the master key', () => {
    const tokens = new Set(ids.map((id) => deriveToken(keys, id)));
    expect(tokens.size).toBe(ids.length);
    expect(new Set([...tokens].join('')).size).toBe(32);
    const others = ServerKeys.fromMaster(Buffer.alloc(32, 2));
    expect(ids.some((id) => tokens.has(deriveToken(others, id)))).toBe(false);
  });
});

describe('tokenDigest', () => {
  it('differs under another slug, and is unrelated to the token', () => {
    const token = deriveToken(keys, ids[0] ?? '');
    expect(tokenDigest(keys, 'ACME', token)).toHaveLength(32);
    expect(tokenDigest(keys, 'ACME', token).equals(tokenDigest(keys, 'ACMES', token))).toBe(false);
    expect(tokenDigest(keys, 'ACME', token).equals(tokenDigest(keys, 'ACME', token))).toBe(true);
  });
});
