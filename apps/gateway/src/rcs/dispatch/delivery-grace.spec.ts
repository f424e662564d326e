import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeliveryGrace } from './delivery-grace.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a card that was just sent', () => {
  it('needs no record when its delivery is stored', async () => {
    const grace = new DeliveryGrace();
    const [one, other] = [grace.waitForDelivery('one'), grace.waitForDelivery('other')];
    grace.markDelivered(['one', 'unknown']);
    expect(await one).toBe(true);
    await vi.advanceTimersByTimeAsync(25);
    expect(await other).toBe(false);
  });

  it('is recorded together with the cards of the same 25 ms', async () => {
    const grace = new DeliveryGrace();
    const ends: string[] = [];
    void grace.waitForDelivery('one').then(() => ends.push('one'));
    await vi.advanceTimersByTimeAsync(24);
    void grace.waitForDelivery('other').then(() => ends.push('other'));
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['one', 'other']);
    void grace.waitForDelivery('next').then(() => ends.push('next'));
    await vi.advanceTimersByTimeAsync(25);
    expect(ends).toHaveLength(3);
  });
});
