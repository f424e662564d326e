import type { Tenant } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { LiveSessions } from './live-sessions.js';

const HOME: Tenant = { accountId: 'home', mode: 'live' };
const PHONE = '+14155552671';

interface Scene {
  nowMs: number;
  readonly sessions: LiveSessions;
  /** Opens a session and answers `opened`, or the seconds after which to come again. */
  open(changes?: {
    tenant?: Tenant;
    phone?: string;
    ttl?: number;
    work?: () => Promise<Outcome<string>>;
  }): Promise<unknown>;
}

function scene(perPhone: number, maxPhones?: number): Scene {
  const self: Scene = {
    nowMs: 1_000,
    sessions: new LiveSessions({
      perPhone,
      nowMs: () => self.nowMs,
      ...(maxPhones === undefined ? {} : { maxPhones }),
    }),
    open: async ({ tenant = HOME, phone = PHONE, ttl = 90, work = () => Promise.resolve(succeed('opened')) } = {}) => {
      const outcome = await self.sessions.open(tenant, { phone, ttl }, work);
      return outcome.ok ? outcome.value : (outcome.refusal.retryAfterSeconds ?? outcome.refusal.code);
    },
  };
  return self;
}

describe('live sessions of one phone', () => {
  it('are at most so many, until the first of them is over', async () => {
    const at = scene(3);
    for (const ttl of [90, 30, 300]) expect(await at.open({ ttl })).toBe('opened');
    expect(await at.open()).toBe(30);
    at.nowMs += 29_001;
    expect(await at.open()).toBe(1);
    at.nowMs += 999;
    expect(await at.open()).toBe('opened');
    expect(await at.open()).toBe(60);
  });

  it('are refused with the number and the reason', async () => {
    const at = scene(1);
    await at.open();
    expect(
      await at.sessions.open(HOME, { phone: PHONE, ttl: 90 }, () => Promise.reject(new Error('not asked'))),
    ).toEqual(
      refuse('RATE_LIMITED', {
        message: 'This phone has 1 sessions whose time is not over, and may have no more at a time.',
        retryAfterSeconds: 90,
      }),
    );
  });

  it('are counted for each account and each phone by itself, and never for test keys', async () => {
    const at = scene(1);
    expect(await at.open()).toBe('opened');
    expect(await at.open({ phone: '+14155552672' })).toBe('opened');
    expect(await at.open({ tenant: { accountId: 'other', mode: 'live' } })).toBe('opened');
    for (let n = 0; n < 5; n += 1)
      expect(await at.open({ tenant: { accountId: 'home', mode: 'test' } })).toBe('opened');
    expect(await at.open()).toBe(90);
  });

  it('that were not opened after all are not counted', async () => {
    const at = scene(1);
    expect(await at.open({ work: () => Promise.resolve(refuse('INVALID_BRAND')) })).toBe('INVALID_BRAND');
    await expect(at.open({ work: () => Promise.reject(new Error('away')) })).rejects.toThrow('away');
    expect(await at.open()).toBe('opened');
  });

  it('are counted before they are opened: those of one moment too', async () => {
    const at = scene(2);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => at.open()));
    expect(outcomes).toEqual(['opened', 'opened', 90, 90, 90]);
  });

  it('of a phone that is asked for again and again are not forgotten, whatever other phones come', async () => {
    const at = scene(1, 10);
    await at.open({ ttl: 300 });
    for (let n = 0; n < 200; n += 1) {
      await at.open({ phone: `+1415555${1000 + n}` });
      if (n % 4 === 0) expect(await at.open()).toBe(300);
    }
  });

  it('have no limit where none is set', async () => {
    const at = scene(0);
    for (let n = 0; n < 100; n += 1) expect(await at.open()).toBe('opened');
  });
});
