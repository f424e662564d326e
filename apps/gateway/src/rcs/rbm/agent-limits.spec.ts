import { describe, expect, it } from 'vitest';
import { AgentLimits } from './agent-limits.js';

function limitsAt(): { readonly limits: AgentLimits; readonly wait: (ms: number) => void } {
  let nowMs = 0;
  const limits = new AgentLimits({ nowMs: () => nowMs, random: () => 0.5 });
  return { limits, wait: (ms) => (nowMs += ms) };
}

describe('the limits of agents', () => {
  it('block the failing agent and no other', () => {
    const { limits, wait } = limitsAt();
    limits.recordAnswer('acme', 0, 'forbidden', false);
    expect(limits.admit('acme')).toEqual({ refusal: 'breaker_open' });
    expect(limits.admit('other')).toEqual({ sentMs: 0 });
    wait(30_000);
    expect(limits.admit('acme')).toEqual({ sentMs: 30_000 });
    expect(limits.admit('acme')).toEqual({ refusal: 'breaker_open' });
    limits.recordAnswer('acme', 30_000, 'works', false);
    expect(limits.admit('acme')).toEqual({ sentMs: 30_000 });
  });

  it('block an agent after five failures in a row, for 5 s, then 10 s, up to one minute', () => {
    const { limits, wait } = limitsAt();
    for (let times = 0; times < 4; times += 1) limits.recordAnswer('acme', 0, 'down', false);
    expect(limits.admit('acme')).toEqual({ sentMs: 0 });
    limits.recordAnswer('acme', 0, 'down', false);
    let sentMs = 0;
    for (const openMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      wait(openMs - 1);
      expect(limits.admit('acme')).toEqual({ refusal: 'breaker_open' });
      wait(1);
      sentMs += openMs;
      expect(limits.admit('acme')).toEqual({ sentMs });
      limits.recordAnswer('acme', sentMs, 'down', false);
    }
  });

  it('replace a probe without an answer after 2 s', () => {
    const { limits, wait } = limitsAt();
    limits.recordAnswer('acme', 0, 'forbidden', false);
    wait(30_000);
    expect(limits.admit('acme')).toEqual({ sentMs: 30_000 });
    wait(1_999);
    expect(limits.admit('acme')).toEqual({ refusal: 'breaker_open' });
    wait(1);
    expect(limits.admit('acme')).toEqual({ sentMs: 32_000 });
  });

  it('ignore the failure of a send that began before the block', () => {
    const { limits, wait } = limitsAt();
    wait(1_000);
    limits.recordAnswer('acme', 1_000, 'forbidden', false);
    limits.recordAnswer('acme', 999, 'down', false);
    wait(30_000);
    expect(limits.admit('acme')).toEqual({ sentMs: 31_000 });
  });

  it('block a forbidden agent up to five minutes', () => {
    const { limits, wait } = limitsAt();
    let sentMs = 0;
    for (const openMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      limits.recordAnswer('acme', sentMs, 'forbidden', false);
      wait(openMs - 1);
      expect(limits.admit('acme')).toEqual({ refusal: 'breaker_open' });
      wait(1);
      sentMs += openMs;
      expect(limits.admit('acme')).toEqual({ sentMs });
    }
  });

  it('do not block for failures interrupted by successes, or for answers about one card', () => {
    const { limits } = limitsAt();
    for (let times = 0; times < 20; times += 1) {
      limits.recordAnswer('acme', 0, 'down', false);
      limits.recordAnswer('acme', 0, times % 2 === 0 ? 'works' : 'unknown', false);
    }
    expect(limits.admit('acme')).toEqual({ sentMs: 0 });
  });

  it('admit a thousand cards at once, and fewer after a throttle', () => {
    const { limits, wait } = limitsAt();
    for (let times = 0; times < 1_000; times += 1) limits.admit('acme');
    expect(limits.admit('acme')).toEqual({ refusal: 'too_fast' });
    limits.recordAnswer('acme', 0, 'works', true);
    wait(1);
    expect(limits.admit('acme')).toEqual({ refusal: 'too_fast' });
    wait(1_000);
    expect(limits.admit('acme')).toEqual({ sentMs: 1_001 });
  });

  it('report the same problem once a minute', () => {
    const { limits, wait } = limitsAt();
    expect(limits.shouldReport('acme', 'throttled')).toBe(true);
    expect(limits.shouldReport('acme', 'throttled')).toBe(false);
    expect(limits.shouldReport('acme', 'timeout')).toBe(true);
    expect(limits.shouldReport('other', 'throttled')).toBe(true);
    wait(60_000);
    expect(limits.shouldReport('acme', 'throttled')).toBe(true);
  });
});
