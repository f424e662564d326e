import { describe, expect, it } from 'vitest';
import { planSession } from './session-plan.js';

const plan = (test: boolean, phone: string, country: string | null, channel: 'rcs' | 'sms_fallback' = 'rcs') =>
  planSession({ test, phone, channel, country });

describe('the plan of a session', () => {
  it('is the country of the phone, and SMS, as long as no card is sent', () => {
    for (const test of [true, false]) {
      expect(plan(test, '+447911123456', 'GB')).toEqual({ country: 'GB', channel: 'sms_fallback' });
    }
  });

  it('is none for a phone that no number plan has', () => {
    for (const test of [true, false]) expect(plan(test, '+15555555555', null)).toBeNull();
  });

  it('gives a test key the numbers of the table, whatever the number plan says of them', () => {
    expect(plan(true, '+15005550001', null)).toEqual({ country: 'US', channel: 'sms_fallback' });
    expect(plan(true, '+15005550002', null)).toEqual({ country: 'US', channel: 'rcs' });
    expect(plan(true, '+15005550009', 'US')).toBeNull();
  });

  it('forces SMS where the caller does, for a number that takes cards too', () => {
    expect(plan(true, '+15005550003', 'US', 'sms_fallback')).toEqual({ country: 'US', channel: 'sms_fallback' });
  });

  it('judges the same numbers like any other for a live key', () => {
    expect(plan(false, '+15005550002', 'US')).toEqual({ country: 'US', channel: 'sms_fallback' });
    expect(plan(false, '+15005550009', 'US')).toEqual({ country: 'US', channel: 'sms_fallback' });
    expect(plan(false, '+15005550001', null)).toBeNull();
  });
});
