import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMON_PASSWORDS } from './common-passwords.js';
import { createSystemPassword, isCommonPassword } from './system-password.js';

describe('a generated password', () => {
  const made = Array.from({ length: 2_000 }, createSystemPassword);

  it('has 8 characters that are not easily confused, different each time', () => {
    for (const password of made) expect(password).toMatch(/^[a-km-zA-HJ-NP-Z2-9]{8}$/);
    expect(new Set(made).size).toBe(made.length);
    expect(made.filter(isCommonPassword)).toEqual([]);
  });

  it('has every character of the alphabet at every position', () => {
    for (let place = 0; place < 8; place += 1) {
      expect(new Set(made.map((password) => password.charAt(place))).size).toBe(56);
    }
  });
});

describe('a common password', () => {
  it('is one of the list, in either case', () => {
    expect(COMMON_PASSWORDS.size).toBeGreaterThan(300);
    for (const password of COMMON_PASSWORDS) {
      expect(password).toMatch(/^[\x21-\x7e]{6,8}$/);
      expect(password).toBe(password.toLowerCase());
      expect([isCommonPassword(password), isCommonPassword(password.toUpperCase())]).toEqual([true, true]);
    }
  });

  it('is any of one or two different characters', () => {
    const text = fc
      .tuple(fc.string({ minLength: 1, maxLength: 2 }), fc.array(fc.nat(), { minLength: 6, maxLength: 8 }))
      .map(([characters, places]) => places.map((place) => characters.charAt(place % characters.length)).join(''));
    fc.assert(fc.property(text, isCommonPassword));
  });

  it.each(['Zq7w-one', 's3cret', 'kT4=/w', 'secret77'])('is not %s', (password) =>
    expect(isCommonPassword(password)).toBe(false),
  );
});
