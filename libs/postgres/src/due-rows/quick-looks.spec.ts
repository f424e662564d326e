import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QUICK_LOOK_SECONDS, QuickLooks } from './quick-looks.js';

const LOOK_MS = 10;

describe('looks for due rows', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const isQuick = (looks: QuickLooks, all = false, behind = false, tookMs = LOOK_MS): Promise<boolean> =>
    looks.look(
      all,
      (seconds) => {
        vi.advanceTimersByTime(tookMs);
        return Promise.resolve(seconds === QUICK_LOOK_SECONDS);
      },
      () => behind,
    );

  it('are quick for twenty times as long as one at all past times took', async () => {
    const looks = new QuickLooks();
    expect([await isQuick(looks), await isQuick(looks)]).toEqual([false, true]);
    vi.advanceTimersByTime(18 * LOOK_MS);
    expect(await isQuick(looks)).toBe(true);
    expect(await isQuick(looks)).toBe(false);
  });

  it('are quick for two seconds at most after one that took half a second or less', async () => {
    const looks = new QuickLooks();
    expect(await isQuick(looks, false, false, 500)).toBe(false);
    vi.advanceTimersByTime(1_999);
    expect(await isQuick(looks)).toBe(true);
    expect(await isQuick(looks, false, false, 501)).toBe(false);
    vi.advanceTimersByTime(20 * 501 - LOOK_MS);
    expect([await isQuick(looks), await isQuick(looks)]).toEqual([true, false]);
  });

  it('read all past times where that is asked for, and while they are behind', async () => {
    const looks = new QuickLooks();
    expect([await isQuick(looks), await isQuick(looks, true)]).toEqual([false, false]);
    expect([await isQuick(looks), await isQuick(looks, true, true), await isQuick(looks)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('read all past times after one that failed to', async () => {
    const looks = new QuickLooks();
    await expect(looks.look(false, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await isQuick(looks)).toBe(false);
  });
});
