import { describe, expect, it } from 'vitest';
import { FAILURE_WINDOW_MS, BindLockout, MAX_FAILURES } from './bind-lockout.js';

const PEER = '192.0.2.7';

function clockedBinds(): { failed: BindLockout; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  return { failed: new BindLockout(() => clock.nowMs), clock };
}

describe('failed binds', () => {
  it('are answered later and later', () => {
    const { failed } = clockedBinds();
    expect(Array.from({ length: 6 }, () => failed.recordFailure(PEER))).toEqual([
      1_000, 2_000, 4_000, 8_000, 9_000, 9_000,
    ]);
  });

  it('shut their peer out after five, however it spells its address, and nobody else', () => {
    const { failed } = clockedBinds();
    for (let n = 1; n < MAX_FAILURES; n++) failed.recordFailure(PEER);
    expect(failed.isLockedOut(PEER)).toBe(false);
    failed.recordFailure(`::ffff:${PEER}`);
    expect(failed.isLockedOut(PEER)).toBe(true);
    expect(failed.isLockedOut('192.0.2.8')).toBe(false);
  });

  it('are forgotten one by one, ten minutes after each', () => {
    const { failed, clock } = clockedBinds();
    for (let n = 0; n < MAX_FAILURES; n++) {
      failed.recordFailure(PEER);
      clock.nowMs += 1_000;
    }
    clock.nowMs = FAILURE_WINDOW_MS - 1;
    expect(failed.isLockedOut(PEER)).toBe(true);
    clock.nowMs = FAILURE_WINDOW_MS;
    expect(failed.isLockedOut(PEER)).toBe(false);
    expect(failed.recordFailure(PEER)).toBe(9_000);
    expect(failed.isLockedOut(PEER)).toBe(true);
  });

  it('are forgiven when a password was set', () => {
    const { failed } = clockedBinds();
    for (let n = 0; n < MAX_FAILURES; n++) failed.recordFailure(PEER);
    failed.clearFailures();
    expect(failed.isLockedOut(PEER)).toBe(false);
  });

  it('are remembered of ten thousand peers, not of more', () => {
    const { failed } = clockedBinds();
    for (let n = 0; n < MAX_FAILURES; n++) failed.recordFailure(PEER);
    for (let n = 0; n < 10_000; n++) failed.recordFailure(`10.0.${n >> 8}.${n & 255}`);
    expect(failed.isLockedOut(PEER)).toBe(false);
  });
});
