import { describe, expect, it } from 'vitest';
import { UNKNOWN_PER_SECOND, UnknownReceiptRate } from './unknown-receipt-rate.js';

/** Stores as many receipts of `count` as the rate allows. */
const stored = (rate: UnknownReceiptRate, count: number, nowMs: number, systemId = 's'): number =>
  Array.from({ length: count }, () => {
    const mayStore = rate.mayStore(systemId, nowMs);
    if (mayStore) rate.countUnknown(systemId, nowMs);
    return mayStore;
  }).filter(Boolean).length;

describe('the rate of unknown receipts', () => {
  it('allows a burst of two seconds, then receipts at the rate', () => {
    const rate = new UnknownReceiptRate();
    expect(stored(rate, 1_000, 0)).toBe(2 * UNKNOWN_PER_SECOND);
    expect(stored(rate, 1_000, 500)).toBe(UNKNOWN_PER_SECOND / 2);
    expect(stored(rate, 1_000, 60_000)).toBe(2 * UNKNOWN_PER_SECOND);
  });

  it('applies to each system separately', () => {
    const rate = new UnknownReceiptRate();
    stored(rate, 1_000, 0);
    expect([rate.mayStore('s', 0), rate.mayStore('other', 0)]).toEqual([false, true]);
  });

  it('counts what was in flight beyond the burst', () => {
    const rate = new UnknownReceiptRate();
    for (let nth = 0; nth < 10 * UNKNOWN_PER_SECOND; nth += 1) rate.countUnknown('s', 0);
    expect([rate.mayStore('s', 8_000), rate.mayStore('s', 8_010)]).toEqual([false, true]);
  });
});
