import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPhone, maskPhonesIn } from './index.js';

describe('maskPhone', () => {
  it.each([
    ['+14155552671', '+141******71'],
    ['14155552671', '141******71'],
    ['+1234567', '******67'],
    ['1234567', '*****67'],
    ['12345', '***45'],
    ['', ''],
    ['a\u{1f600}\u{1f600}', '***\u{1f600}'],
    ['\u{1f600}a', '*\ufffda'],
  ])('%s shows as %s', (text, masked) => expect(maskPhone(text)).toBe(masked));

  it('shows the same digits of a number with and without a plus', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9][0-9]{5,14}$/), (number) => {
        expect(maskPhone(`+${number}`).replace(/^[+*]/, '')).toBe(maskPhone(number));
      }),
    );
  });
});

describe('maskPhonesIn', () => {
  it.each([
    ['MO from +14155552671 to +442079460000.', 'MO from +141******71 to +442*******00.'],
    ['from=14155552671', 'from=141******71'],
    ['sms:%2B14155552671?body=x', 'sms:%2B*********71?body=x'],
    ['call +1 (415) 555-2671 now', 'call +1 (***********71 now'],
    ['{"phone":"07911123456"}', '{"phone":"079******56"}'],
  ])('%s', (text, masked) => expect(maskPhonesIn(text)).toBe(masked));

  it.each([
    'sess_01KAJ0A1B2C3D4E5F6G7H8J9K0',
    'req_1b2c_00000042',
    '2026-11-21T05:04:12.123Z',
    '01934567-1234-7123-8123-123456789012',
    'took 1234567 us on port 28100',
  ])('does not change "%s"', (text) => expect(maskPhonesIn(text)).toBe(text));

  it('leaves no E.164 number readable in any text', () => {
    const phone = fc.stringMatching(/^\+[1-9][0-9]{7,14}$/);
    fc.assert(
      fc.property(fc.string(), phone, fc.string(), (before, number, after) => {
        expect(maskPhonesIn(before + number + after)).not.toContain(number);
      }),
    );
  });
});
