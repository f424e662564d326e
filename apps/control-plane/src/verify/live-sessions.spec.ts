import type { Tenant } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { LiveSessions } from './live-sessions.js';

const TENANT: Tenant = { accountId: 'own', mode: 'live' };
const PHONE = '+14155552671';

interface Fixture {
  nowMs: number;
  readonly sessions: LiveSessions;
  /** Opens a session; returns `opened`, the seconds to wait before a retry, or the error code. */
  open(changes?: {
    tenant?: Tenant;
    phone?: string;
    ttl?: number;
    work?: () => Promise<Outcome<string>>;
  }): Promise<unknown>;
}

function fixture(perPhone: number, maxPhones?: number): Fixture {
  const self: Fixture = {
    nowMs: 1_000,
    sessions: new LiveSessions({
      perPhone,
      nowMs: () => self.nowMs,
      ...(maxPhones === undefined ? {} : { maxPhones }),
    }),
    open: async ({
      tenant = TENANT,
      phone = PHONE,
      ttl = 90,
      work = () => Promise.resolve(succeed('opened')),
    } = {}) => {
      const outcome = await self.sessions.open(tenant, { phone, ttl }, work);
      return outcome.ok ? outcome.value : (outcome.refusal.retryAfterSeconds ?? outcome.refusal.code);
    },
  };
  return self;
}

describe('the live sessions of one phone', () => {
  it('are at most `perPhone`, until the first of them ends', async () => {
    const at = fixture(3);
    for (const ttl of [90, 30, 300]) expect(await at.open({ ttl })).toBe('opened');
    expect(await at.open()).toBe(30);
    at.nowMs += 29_001;
    expect(await at.open()).toBe(1);
    at.nowMs += 999;
    expect(await at.open()).toBe('opened');
    expect(await at.open()).toBe(60);
  });

  it('are refused with the limit and the seconds to wait', async () => {
    const at = fixture(1);
    await at.open();
    expect(
      await at.sessions.open(TENANT, { phone: PHONE, ttl: 90 }, () => Promise.reject(new Error('must not run'))),
    ).toEqual(
      refuse('RATE_LIMITED', {
        message: 'This phone has 1 sessions whose time is not over, and may have no more at a time.',
        retryAfterSeconds: 90,
      }),
    );
  });

  it('are counted per account and phone, and never for test keys', async () => {
    const at = fixture(1);
    expect(await at.open()).toBe('opened');
    expect(await at.open({ phone: '+14155552672' })).toBe('opened');
    expect(await at.open({ tenant: { accountId: 'other', mode: 'live' } })).toBe('opened');
    for (let n = 0; n < 5; n += 1) expect(await at.open({ tenant: { accountId: 'own', mode: 'test' } })).toBe('opened');
    expect(await at.open()).toBe(90);
  });

  it('are not counted when opening them failed', async () => {
    const at = fixture(1);
    expect(await at.open({ work: () => Promise.resolve(refuse('INVALID_BRAND')) })).toBe('INVALID_BRAND');
    await expect(at.open({ work: () => Promise.reject(new Error('away')) })).rejects.toThrow('away');
    expect(await at.open()).toBe('opened');
  });

  it('are counted before they are opened, so concurrent creates cannot exceed the limit', async () => {
    const at = fixture(2);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => at.open()));
    expect(outcomes).toEqual(['opened', 'opened', 90, 90, 90]);
  });

  it('of a phone with repeated creates stay counted while other phones evict entries', async () => {
    const at = fixture(1, 10);
    await at.open({ ttl: 300 });
    for (let n = 0; n < 200; n += 1) {
      await at.open({ phone: `+1415555${1000 + n}` });
      if (n % 4 === 0) expect(await at.open()).toBe(300);
    }
  });

  it('have no limit when `perPhone` is 0', async () => {
    const at = fixture(0);
    for (let n = 0; n < 100; n += 1) expect(await at.open()).toBe('opened');
  });
});
