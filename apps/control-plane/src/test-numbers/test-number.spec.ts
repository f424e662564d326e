import { describe, expect, it } from 'vitest';
import { ACTING_NUMBERS, isTestNumber, testNumberOf } from './test-number.js';

const rowOf = (phone: string): string => {
  const { accepted, channel, act, code } = testNumberOf(phone);
  return accepted ? `${channel}, ${act ?? 'silent'}, code ${code}` : 'refused';
};

describe('the table of test numbers', () => {
  it.each([
    ['+15005550001', 'sms_fallback, sms, code delivered'],
    ['+15005550002', 'rcs, approve_card, code delivered'],
    ['+15005550003', 'rcs, deny_card, code delivered'],
    ['+15005550004', 'sms_fallback, silent, code delivered'],
    ['+15005550005', 'sms_fallback, wrong_sender, code delivered'],
    ['+15005550006', 'sms_fallback, silent, code delivered'],
    ['+15005550007', 'sms_fallback, silent, code undelivered'],
    ['+15005550008', 'sms_fallback, silent, code blocked'],
    ['+15005550009', 'refused'],
    ['+15005550000', 'sms_fallback, silent, code delivered'],
    ['+14155552671', 'sms_fallback, silent, code delivered'],
  ])('%s: %s', (phone, row) => {
    expect(rowOf(phone)).toBe(row);
  });

  it('lists the numbers whose phones act', () => {
    expect(ACTING_NUMBERS.map(({ phone, act }) => `${phone} ${act}`)).toEqual([
      '+15005550001 sms',
      '+15005550002 approve_card',
      '+15005550003 deny_card',
      '+15005550005 wrong_sender',
    ]);
    expect(isTestNumber('+15005550009')).toBe(true);
    expect(isTestNumber('+15005550010')).toBe(false);
  });
});
