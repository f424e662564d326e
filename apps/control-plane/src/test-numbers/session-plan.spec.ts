import { MODES, type Mode } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { planSession } from './session-plan.js';

const plan = (mode: Mode, phone: string, country: string | null, channel: 'rcs' | 'sms_fallback' = 'rcs') =>
  planSession({ mode, phone, channel, country });

describe('the plan of a session', () => {
  it('is the country of the phone, and SMS, as long as no card is sent', () => {
    for (const mode of MODES) {
      expect(plan(mode, '+447911123456', 'GB')).toEqual({ country: 'GB', channel: 'sms_fallback' });
    }
  });

  it('is none for a phone that no number plan has', () => {
    for (const mode of MODES) expect(plan(mode, '+15555555555', null)).toBeNull();
  });

  it('gives a test key the numbers of the table, whatever the number plan says of them', () => {
    expect(plan('test', '+15005550001', null)).toEqual({ country: 'US', channel: 'sms_fallback' });
    expect(plan('test', '+15005550002', null)).toEqual({ country: 'US', channel: 'rcs' });
    expect(plan('test', '+15005550009', 'US')).toBeNull();
  });

  it('forces SMS where the caller does, for a number that takes cards too', () => {
    expect(plan('test', '+15005550003', 'US', 'sms_fallback')).toEqual({ country: 'US', channel: 'sms_fallback' });
  });

  it('is none for the numbers of the table and a live key, whatever the number plan says of them', () => {
    for (let last = 1; last <= 9; last++) {
      for (const country of ['US', null]) expect(plan('live', `+1500555000${last}`, country)).toBeNull();
    }
    expect(plan('live', '+15005550010', 'US')).toEqual({ country: 'US', channel: 'sms_fallback' });
  });
});
