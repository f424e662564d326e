import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChallenge, verifySecret } from './challenge.js';

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

describe('a challenge', () => {
  it('is the SHA-256 of the text of a 256-bit secret', async () => {
    const { secret, challenge } = await createChallenge();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(challenge).toBe(sha256(secret));
  });

  it('is different every time', async () => {
    const made = await Promise.all(Array.from({ length: 50 }, createChallenge));
    expect(new Set(made.flatMap(({ secret, challenge }) => [secret, challenge])).size).toBe(100);
  });

  it('matches its secret, with hex in either case', async () => {
    const { secret, challenge } = await createChallenge();
    expect(await verifySecret(secret, challenge)).toBe(true);
    expect(await verifySecret(secret, challenge.toUpperCase())).toBe(true);
  });

  it('matches any text as hashed by Node, and no other text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), async (secret, other) => {
        expect(await verifySecret(secret, sha256(secret))).toBe(true);
        expect(await verifySecret(other, sha256(secret))).toBe(other === secret);
      }),
    );
  });

  it('does not match when any one of its digits is wrong', async () => {
    const { secret, challenge } = await createChallenge();
    for (let at = 0; at < challenge.length; at += 1) {
      const wrong = challenge.slice(0, at) + (challenge[at] === '0' ? '1' : '0') + challenge.slice(at + 1);
      expect(await verifySecret(secret, wrong)).toBe(false);
    }
  });

  it.each(['', '00', 'g'.repeat(64), ` ${'0'.repeat(63)}`, `${'0'.repeat(64)}\n`])(
    'is 64 hex digits: %j matches nothing',
    async (challenge) => {
      expect(await verifySecret('', challenge)).toBe(false);
    },
  );
});
