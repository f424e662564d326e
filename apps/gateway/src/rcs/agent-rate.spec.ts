import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CARDS_PER_SECOND, initialRate, slowed, spent, type AgentRate } from './agent-rate.js';

/** How many cards may go at that moment. */
function roomAt(pace: AgentRate, nowMs: number): number {
  let room = 0;
  for (let current = spent(pace, nowMs); current !== null; current = spent(current, nowMs)) room += 1;
  return room;
}

function emptied(pace: AgentRate, nowMs: number): AgentRate {
  let current = pace;
  for (let next = spent(current, nowMs); next !== null; next = spent(current, nowMs)) current = next;
  return current;
}

describe('the pace of an agent', () => {
  it('lets a second’s worth go at once, and then as many as come in', () => {
    expect(roomAt(initialRate(0), 0)).toBe(CARDS_PER_SECOND);
    const empty = emptied(initialRate(0), 0);
    expect(roomAt(empty, 0)).toBe(0);
    expect(roomAt(empty, 100)).toBe(100);
    expect(roomAt(empty, 10_000)).toBe(CARDS_PER_SECOND);
  });

  it('is halved when the platform asks for less, once a second however often it asks', () => {
    const once = slowed(initialRate(0), 0);
    expect(once.perSecond).toBe(500);
    expect(slowed(once, 999).perSecond).toBeGreaterThanOrEqual(500);
    expect(slowed(once, 1_000).perSecond).toBe(260);
    expect(roomAt(once, 0)).toBe(500);
  });

  it('climbs back by a fiftieth of the whole every second', () => {
    const slow = emptied(slowed(initialRate(0), 0), 0);
    expect(spent(slow, 10_000)?.perSecond).toBe(700);
    expect(spent(slow, 60_000)?.perSecond).toBe(1_000);
  });

  it('never stops altogether, and never lets more than a second’s worth go in one moment', () => {
    const step = fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        let [pace, nowMs] = [initialRate(0), 0];
        for (const [waitMs, isThrottle] of steps) {
          nowMs += waitMs;
          pace = isThrottle ? slowed(pace, nowMs) : (spent(pace, nowMs) ?? pace);
          expect(pace.perSecond).toBeGreaterThanOrEqual(1);
          expect(pace.tokens).toBeLessThanOrEqual(CARDS_PER_SECOND);
        }
        expect(spent(pace, nowMs + 1_000)).not.toBeNull();
      }),
    );
  });
});
