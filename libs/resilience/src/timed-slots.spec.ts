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

  it('are released after the work of a run, also when it fails; a run without one does what it does when all are taken', async () => {
    const slots = new TimedSlots({ slots: 1, maxWaiting: 0, maxWaitMs: 100 });
    const full = vi.fn(() => 'full');
    expect(await slots.run(() => slots.run(() => Promise.resolve('ran'), full), full)).toBe('full');
    expect(full).toHaveBeenCalledTimes(1);
    await expect(slots.run(() => Promise.reject(new Error('failed')), full)).rejects.toThrow('failed');
    expect(slots.isIdle).toBe(true);
    expect(await slots.run(() => Promise.resolve('ran'), full)).toBe('ran');
  });
});
