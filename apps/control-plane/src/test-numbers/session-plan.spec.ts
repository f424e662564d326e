import { MODES, type Mode } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { planSession } from './session-plan.js';

const plan = (mode: Mode, phone: string, country: string | null, channel: 'rcs' | 'sms_fallback' = 'rcs') =>
  planSession({ mode, phone, channel, country });

describe('the plan of a session', () => {
  it('has the country of the phone and the channel SMS for ordinary numbers', () => {
    for (const mode of MODES) {
      expect(plan(mode, '+447911123456', 'GB')).toEqual({ country: 'GB', channel: 'sms_fallback' });
    }
  });

  it('is null for a phone outside every number plan', () => {
    for (const mode of MODES) expect(plan(mode, '+15555555555', null)).toBeNull();
  });

  it('accepts the test numbers for a test key, independent of the number plan', () => {
    expect(plan('test', '+15005550001', null)).toEqual({ country: 'US', channel: 'sms_fallback' });
    expect(plan('test', '+15005550002', null)).toEqual({ country: 'US', channel: 'rcs' });
    expect(plan('test', '+15005550009', 'US')).toBeNull();
  });

  it('has the channel SMS if the caller requests it, also for a test number with cards', () => {
    expect(plan('test', '+15005550003', 'US', 'sms_fallback')).toEqual({ country: 'US', channel: 'sms_fallback' });
  });

  it('is null for the test numbers and a live key, independent of the number plan', () => {
    for (let last = 1; last <= 9; last++) {
      for (const country of ['US', null]) expect(plan('live', `+1500555000${last}`, country)).toBeNull();
    }
    expect(plan('live', '+15005550010', 'US')).toEqual({ country: 'US', channel: 'sms_fallback' });
  });
});
