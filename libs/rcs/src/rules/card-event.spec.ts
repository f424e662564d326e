import { idTimeMs } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newCardEventId } from './card-event.js';

const NOW = 1_763_700_000_000;
const DAY_MS = 86_400_000;
const clock = { nowMs: () => NOW };

describe('the id of an event', () => {
  it('is the same for a repeated event, and another for another event of the same time', () => {
    expect(newCardEventId(NOW - 5, 'one', clock)).toBe(newCardEventId(NOW - 5, 'one', clock));
    expect(newCardEventId(NOW - 5, 'other', clock)).not.toBe(newCardEventId(NOW - 5, 'one', clock));
  });

  it.each([
    [NOW, NOW],
    [NOW - DAY_MS, NOW - DAY_MS],
    [NOW - DAY_MS - 1, NOW],
    [NOW + 300_000, NOW + 300_000],
    [NOW + 300_001, NOW],
    [NOW - 5.5, NOW - 6],
    [Number.NaN, NOW],
    [Number.NEGATIVE_INFINITY, NOW],
  ])('of the time %d begins with %d', (occurredMs, time) => {
    expect(idTimeMs(newCardEventId(occurredMs, 'one', clock))).toBe(time);
  });

  it('is of a day that has a partition, for any time of the platform', () => {
    fc.assert(
      fc.property(fc.double(), fc.string(), (occurredMs, name) => {
        const ms = idTimeMs(newCardEventId(occurredMs, name, clock));
        expect(ms).toBeGreaterThanOrEqual(NOW - DAY_MS);
        expect(ms).toBeLessThanOrEqual(NOW + 300_000);
      }),
    );
  });
});
