import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TimedSlots } from './timed-slots.js';

const LIMITS = { slots: 2, maxWaiting: 2, maxWaitMs: 100 };

describe('slots', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are taken as long as one is free', () => {
    const slots = new TimedSlots(LIMITS);
    expect(slots.isIdle).toBe(true);
    expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false]);
    slots.release();
    expect(slots.tryTake()).toBe(true);
    slots.release();
    slots.release();
    expect(slots.isIdle).toBe(true);
  });

  it('pass to those who wait in their order, and are not free meanwhile', async () => {
    const slots = new TimedSlots({ ...LIMITS, slots: 1 });
    slots.tryTake();
    const order: string[] = [];
    void slots.wait().then(() => order.push('first'));
    void slots.wait().then(() => order.push('second'));
    slots.release();
    expect(slots.tryTake()).toBe(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['first']);
    slots.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['first', 'second']);
    slots.release();
    expect(slots.isIdle).toBe(true);
  });

  it('are not given to one who has waited for too long, nor when too many wait', async () => {
    const slots = new TimedSlots({ ...LIMITS, slots: 1 });
    slots.tryTake();
    const waiting = [slots.wait(), slots.wait()];
    expect(await slots.wait()).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all(waiting)).toEqual([false, false]);
    slots.release();
    expect(slots.isIdle).toBe(true);
    expect(slots.tryTake()).toBe(true);
  });
});
