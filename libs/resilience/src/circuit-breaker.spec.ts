import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.js';

const FAILURES_TO_OPEN = 3;
const PROBE_MS = 2_000;
/** 10 ms, 20 ms, 30 ms and so on. */
const openMs = (openings: number): number => 10 * openings;

/** A breaker that opened at 0 ms, until 10 ms. */
function opened(): CircuitBreaker {
  const breaker = new CircuitBreaker(FAILURES_TO_OPEN);
  for (let times = 0; times < FAILURES_TO_OPEN; times++) breaker.recordFailure(0, openMs);
  return breaker;
}

describe('a circuit breaker', () => {
  it('is closed and admits every send until so many fail in a row', () => {
    const breaker = new CircuitBreaker(FAILURES_TO_OPEN);
    for (let rounds = 0; rounds < 3; rounds++) {
      breaker.recordFailure(0, openMs);
      breaker.recordFailure(0, openMs);
      expect([breaker.state(0), breaker.admit(0, PROBE_MS), breaker.admit(0, PROBE_MS)]).toEqual([
        'closed',
        true,
        true,
      ]);
      expect(breaker.isPristine).toBe(false);
      breaker.recordSuccess();
      expect(breaker.isPristine).toBe(true);
    }
  });

  it('is open for the given time, then half open', () => {
    const breaker = opened();
    expect([0, 9, 10].map((nowMs) => breaker.state(nowMs))).toEqual(['open', 'open', 'half_open']);
    expect([breaker.openedMs, breaker.openUntilMs]).toEqual([0, 10]);
    expect([breaker.admit(9, PROBE_MS), breaker.admit(10, PROBE_MS)]).toEqual([false, true]);
  });

  it('opens at once where the failure says so', () => {
    const breaker = new CircuitBreaker(FAILURES_TO_OPEN);
    breaker.recordFailure(0, openMs, true);
    expect(breaker.state(0)).toBe('open');
  });

  it('admits one probe at a time while half open; one without a result is replaced', () => {
    const breaker = opened();
    expect([10, 11, 2_009, 2_010].map((nowMs) => breaker.admit(nowMs, PROBE_MS))).toEqual([true, false, false, true]);
  });

  it('opens again when a probe fails, with the time of its next opening', () => {
    const breaker = opened();
    breaker.admit(10, PROBE_MS);
    breaker.recordFailure(15, openMs);
    expect([breaker.openUntilMs, breaker.state(34), breaker.state(35)]).toEqual([35, 'open', 'half_open']);
    expect(breaker.admit(35, PROBE_MS)).toBe(true);
  });

  it('closes with a success, and counts openings afresh', () => {
    const breaker = opened();
    breaker.recordFailure(10, openMs);
    breaker.recordSuccess();
    expect([breaker.state(11), breaker.openedMs, breaker.isPristine]).toEqual(['closed', -Infinity, true]);
    for (let times = 0; times < FAILURES_TO_OPEN; times++) breaker.recordFailure(100, openMs);
    expect(breaker.openUntilMs).toBe(110);
  });

  it('can be made half open early, which does not shorten the next open time', () => {
    const breaker = opened();
    breaker.halfOpen();
    expect(breaker.state(0)).toBe('half_open');
    breaker.recordFailure(0, openMs);
    expect(breaker.openUntilMs).toBe(20);
    const closed = new CircuitBreaker(FAILURES_TO_OPEN);
    closed.halfOpen();
    expect(closed.state(0)).toBe('closed');
  });
});
