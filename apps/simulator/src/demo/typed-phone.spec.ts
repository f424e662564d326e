import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTypedPhone } from './page/typed-phone.mjs';

describe('a typed phone number', () => {
  it.each([
    ['+14155552671', '+14155552671'],
    ['  +1 (415) 555-2671 ', '+14155552671'],
    ['415.555.2671', '+14155552671'],
    ['1 415 555 2671', '+14155552671'],
    ['0049 30 901820', '+4930901820'],
    ['+44 20 7946 0018', '+442079460018'],
  ])('%s is %s', (text, phone) => {
    expect(readTypedPhone(text)).toBe(phone);
  });

  it.each(['', 'hello', '+', '+0 123 456 789', '555-2671', '+1234567890123456', '+1415555267x'])(
    '%j is none',
    (text) => {
      expect(readTypedPhone(text)).toBeNull();
    },
  );

  it('is E.164 or null, for every typed text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readTypedPhone(text) ?? '+1234567').toMatch(/^\+[1-9]\d{6,14}$/);
      }),
    );
  });
});
