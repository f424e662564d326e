import { describe, expect, it } from 'vitest';
import { FAILURE_WINDOW_MS, BindLockout, MAX_FAILURES } from './bind-lockout.js';

const PEER = '192.0.2.7';

function clockedLockout(): { lockout: BindLockout; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  return { lockout: new BindLockout(() => clock.nowMs), clock };
}

describe('the bind lockout', () => {
  it('doubles the delay of each refusal', () => {
    const { lockout } = clockedLockout();
    expect(Array.from({ length: 6 }, () => lockout.recordFailure(PEER))).toEqual([
      1_000, 2_000, 4_000, 7_000, 7_000, 7_000,
    ]);
  });

  it('locks a peer out after five failures, in every spelling of its address, and no other peer', () => {
    const { lockout } = clockedLockout();
    for (let n = 1; n < MAX_FAILURES; n++) lockout.recordFailure(PEER);
    expect(lockout.isLockedOut(PEER)).toBe(false);
    lockout.recordFailure(`::ffff:${PEER}`);
    expect(lockout.isLockedOut(PEER)).toBe(true);
    expect(lockout.isLockedOut('192.0.2.8')).toBe(false);
  });

  it('drops each failure after ten minutes', () => {
    const { lockout, clock } = clockedLockout();
    for (let n = 0; n < MAX_FAILURES; n++) {
      lockout.recordFailure(PEER);
      clock.nowMs += 1_000;
    }
    clock.nowMs = FAILURE_WINDOW_MS - 1;
    expect(lockout.isLockedOut(PEER)).toBe(true);
    clock.nowMs = FAILURE_WINDOW_MS;
    expect(lockout.isLockedOut(PEER)).toBe(false);
    expect(lockout.recordFailure(PEER)).toBe(7_000);
    expect(lockout.isLockedOut(PEER)).toBe(true);
  });

  it('ends when failures are cleared', () => {
    const { lockout } = clockedLockout();
    for (let n = 0; n < MAX_FAILURES; n++) lockout.recordFailure(PEER);
    lockout.clearFailures();
    expect(lockout.isLockedOut(PEER)).toBe(false);
  });

  it('holds failures of at most ten thousand peers', () => {
    const { lockout } = clockedLockout();
    for (let n = 0; n < MAX_FAILURES; n++) lockout.recordFailure(PEER);
    for (let n = 0; n < 10_000; n++) lockout.recordFailure(`10.0.${n >> 8}.${n & 255}`);
    expect(lockout.isLockedOut(PEER)).toBe(false);
  });
});
