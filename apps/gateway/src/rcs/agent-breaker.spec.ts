import { describe, expect, it } from 'vitest';
import { admitted, afterTrouble, CLOSED, FAILURES_TO_OPEN, type AgentBreaker, type Trouble } from './agent-breaker.js';

/** In the middle: waits are not spread. */
const RANDOM = 0.5;

const failed = (breaker: AgentBreaker, nowMs: number, trouble: Trouble = 'down', sentMs = nowMs): AgentBreaker =>
  afterTrouble(breaker, trouble, { sentMs, nowMs, random: RANDOM });

const failedTimes = (breaker: AgentBreaker, times: number, nowMs: number): AgentBreaker =>
  Array.from({ length: times }).reduce<AgentBreaker>((current) => failed(current, nowMs), breaker);

describe('the breaker of an agent', () => {
  it('admits every send while it is closed, and after a few failures', () => {
    expect(admitted(CLOSED, 0)).toBe(CLOSED);
    expect(admitted(failedTimes(CLOSED, FAILURES_TO_OPEN - 1, 0), 0)).not.toBeNull();
  });

  it('opens after five failures in a row, for 5 s', () => {
    const open = failedTimes(CLOSED, FAILURES_TO_OPEN, 1_000);
    expect(admitted(open, 1_000)).toBeNull();
    expect(admitted(open, 5_999)).toBeNull();
    expect(admitted(open, 6_000)).not.toBeNull();
  });

  it('opens at once when a send is forbidden, for 30 s', () => {
    const open = failed(CLOSED, 0, 'forbidden');
    expect(admitted(open, 29_999)).toBeNull();
    expect(admitted(open, 30_000)).not.toBeNull();
  });

  it('then admits one probe at a time, which another replaces when it has said nothing for 2 s', () => {
    const probing = admitted(failedTimes(CLOSED, FAILURES_TO_OPEN, 0), 5_000) ?? CLOSED;
    expect(admitted(probing, 5_001)).toBeNull();
    expect(admitted(probing, 6_999)).toBeNull();
    expect(admitted(probing, 7_000)).not.toBeNull();
  });

  it('opens for twice as long when the probe fails, a minute at most, and five when it is forbidden', () => {
    let breaker = failedTimes(CLOSED, FAILURES_TO_OPEN, 0);
    const waits: number[] = [];
    for (let nowMs = 0, times = 0; times < 6; times += 1) {
      waits.push(breaker.openUntilMs - nowMs);
      nowMs = breaker.openUntilMs;
      breaker = failed(admitted(breaker, nowMs) ?? CLOSED, nowMs);
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(failed({ ...breaker, openings: 10 }, 1e9, 'forbidden').openUntilMs).toBe(1e9 + 300_000);
  });

  it('learns nothing from a failure of a send that began before it opened', () => {
    const open = failedTimes(CLOSED, FAILURES_TO_OPEN, 1_000);
    expect(failed(open, 1_400, 'down', 999)).toBe(open);
  });
});
