import type { Tenant } from '@countersign/keys';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { AccountSlots } from './account-slots.js';
import { succeed, type Outcome } from './errors.js';

const ONE: Tenant = { accountId: '018f0000-0000-7000-8000-000000000001', mode: 'live' };
const OTHER: Tenant = { ...ONE, mode: 'test' };

/** Lists that the test ends one by one. */
class Lists {
  readonly slots = new AccountSlots('lists');
  readonly running: (() => void)[] = [];

  start(tenant: Tenant): Promise<Outcome<string>> {
    return this.slots.run(tenant, () => new Promise((resolve) => this.running.push(() => resolve(succeed('page')))));
  }
}

describe('lists of one account and mode', () => {
  it('run two at a time, the others in their order; other tenants are not held up', async () => {
    const lists = new Lists();
    const started = [ONE, ONE, ONE, OTHER].map((tenant) => lists.start(tenant));
    expect(lists.running).toHaveLength(3);
    lists.running[0]?.();
    await started[0];
    await expect.poll(() => lists.running.length).toBe(4);
    for (const end of lists.running) end();
    expect((await Promise.all(started)).every(({ ok }) => ok)).toBe(true);
  });

  it('are refused when 50 wait, and allowed again afterwards', async () => {
    const lists = new Lists();
    const started = Array.from({ length: 52 }, () => lists.start(ONE));
    expect(await lists.start(ONE)).toMatchObject({
      ok: false,
      refusal: { code: 'RATE_LIMITED', retryAfterSeconds: 1 },
    });
    for (let ended = 0; ended < started.length; ended += 1) {
      while (lists.running.length <= ended) await nextTurn();
      lists.running[ended]?.();
    }
    await Promise.all(started);
    const later = lists.start(ONE);
    lists.running.at(-1)?.();
    expect((await later).ok).toBe(true);
  });

  it('are refused when they have waited longer than a request lasts, and do not run then', async () => {
    vi.useFakeTimers();
    try {
      const lists = new Lists();
      const started = [ONE, ONE, ONE].map((tenant) => lists.start(tenant));
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await started[2]).toMatchObject({ ok: false, refusal: { code: 'RATE_LIMITED' } });
      for (const end of lists.running) end();
      await Promise.all(started);
      expect(lists.running).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('free their slot when they fail', async () => {
    const slots = new AccountSlots('lists');
    for (let count = 0; count < 5; count += 1) {
      await expect(slots.run(ONE, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    }
    expect(await slots.run(ONE, () => Promise.resolve(succeed('page')))).toMatchObject({ ok: true });
  });
});
