import { describe, expect, it } from 'vitest';
import {
  admitSend,
  recordFailure,
  CLOSED,
  FAILURES_TO_OPEN,
  type AgentBreaker,
  type AgentFailure,
} from './agent-breaker.js';

/** The middle of the jitter range: durations are exact. */
const RANDOM = 0.5;

const failed = (breaker: AgentBreaker, nowMs: number, failure: AgentFailure = 'down', sentMs = nowMs): AgentBreaker =>
  recordFailure(breaker, failure, { sentMs, nowMs, random: RANDOM });

const failedTimes = (breaker: AgentBreaker, times: number, nowMs: number): AgentBreaker =>
  Array.from({ length: times }).reduce<AgentBreaker>((current) => failed(current, nowMs), breaker);

describe('the breaker of an agent', () => {
  it('admits every send while it is closed, and after a few failures', () => {
    expect(admitSend(CLOSED, 0)).toBe(CLOSED);
    expect(admitSend(failedTimes(CLOSED, FAILURES_TO_OPEN - 1, 0), 0)).not.toBeNull();
  });

  it('opens after five failures in a row, for 5 s', () => {
    const open = failedTimes(CLOSED, FAILURES_TO_OPEN, 1_000);
    expect(admitSend(open, 1_000)).toBeNull();
    expect(admitSend(open, 5_999)).toBeNull();
    expect(admitSend(open, 6_000)).not.toBeNull();
  });

  it('opens at once when a send is forbidden, for 30 s', () => {
    const open = failed(CLOSED, 0, 'forbidden');
    expect(admitSend(open, 29_999)).toBeNull();
    expect(admitSend(open, 30_000)).not.toBeNull();
  });

  it('admits one probe at a time after that; a probe without a result is replaced after 2 s', () => {
    const probing = admitSend(failedTimes(CLOSED, FAILURES_TO_OPEN, 0), 5_000) ?? CLOSED;
    expect(admitSend(probing, 5_001)).toBeNull();
    expect(admitSend(probing, 6_999)).toBeNull();
    expect(admitSend(probing, 7_000)).not.toBeNull();
  });

  it('doubles the open time when the probe fails, up to one minute, and up to five when it is forbidden', () => {
    let breaker = failedTimes(CLOSED, FAILURES_TO_OPEN, 0);
    const waits: number[] = [];
    for (let nowMs = 0, times = 0; times < 6; times += 1) {
      waits.push(breaker.openUntilMs - nowMs);
      nowMs = breaker.openUntilMs;
      breaker = failed(admitSend(breaker, nowMs) ?? CLOSED, nowMs);
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(failed({ ...breaker, openings: 10 }, 1e9, 'forbidden').openUntilMs).toBe(1e9 + 300_000);
  });

  it('ignores the failure of a send that began before it opened', () => {
    const open = failedTimes(CLOSED, FAILURES_TO_OPEN, 1_000);
    expect(failed(open, 1_400, 'down', 999)).toBe(open);
  });
});
