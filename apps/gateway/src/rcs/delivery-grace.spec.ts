import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeliveryGrace } from './delivery-grace.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a card that was sent a moment ago', () => {
  it('needs no record when it is told to have arrived', async () => {
    const cards = new DeliveryGrace();
    const [one, other] = [cards.arrives('one'), cards.arrives('other')];
    cards.arrived(['one', 'stranger']);
    expect(await one).toBe(true);
    await vi.advanceTimersByTimeAsync(25);
    expect(await other).toBe(false);
  });

  it('is recorded with those that were sent in the same 25 ms', async () => {
    const cards = new DeliveryGrace();
    const ends: string[] = [];
    void cards.arrives('one').then(() => ends.push('one'));
    await vi.advanceTimersByTimeAsync(24);
    void cards.arrives('other').then(() => ends.push('other'));
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['one', 'other']);
    void cards.arrives('next').then(() => ends.push('next'));
    await vi.advanceTimersByTimeAsync(25);
    expect(ends).toHaveLength(3);
  });
});
