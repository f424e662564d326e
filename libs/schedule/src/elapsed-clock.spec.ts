import { describe, expect, it } from 'vitest';
import { ElapsedClock } from './elapsed-clock.js';

function machine(): { clock: ElapsedClock; advance: (monotonicMs: number, wallMs: number) => number } {
  const now = { monotonic: 5_000, wall: 1_700_000_000_000 };
  const clock = new ElapsedClock({ monotonicMs: () => now.monotonic, wallMs: () => now.wall });
  return {
    clock,
    advance: (monotonicMs, wallMs) => {
      now.monotonic += monotonicMs;
      now.wall += wallMs;
      return clock.nowMs();
    },
  };
}

describe('the elapsed clock', () => {
  it('is the monotonic clock, whatever small corrections the wall clock has', () => {
    const { advance } = machine();
    expect([advance(100, 100), advance(100, 900), advance(100, -700)]).toEqual([5_100, 5_200, 5_300]);
  });

  it('counts the time for which the machine was suspended', () => {
    const { clock, advance } = machine();
    expect(advance(10, 60_010)).toBe(65_010);
    expect(advance(10, 10)).toBe(65_020);
    expect(clock.suspendedMs).toBe(60_000);
  });

  it('never goes back with the wall clock', () => {
    const { advance } = machine();
    expect([advance(10, -3_600_000), advance(10, 10)]).toEqual([5_010, 5_020]);
  });
});
