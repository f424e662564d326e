import { describe, expect, it } from 'vitest';
import { AgentLimits } from './agent-limits.js';

function gatesAt(): { readonly limits: AgentLimits; readonly wait: (ms: number) => void } {
  let nowMs = 0;
  const limits = new AgentLimits({ nowMs: () => nowMs, random: () => 0.5 });
  return { limits, wait: (ms) => (nowMs += ms) };
}

describe('the gates of agents', () => {
  it('close for the agent that is in trouble, and for no other', () => {
    const { limits, wait } = gatesAt();
    limits.learn('acme', 0, 'forbidden', false);
    expect(limits.enter('acme')).toEqual({ refusal: 'breaker_open' });
    expect(limits.enter('other')).toEqual({ sentMs: 0 });
    wait(30_000);
    expect(limits.enter('acme')).toEqual({ sentMs: 30_000 });
    expect(limits.enter('acme')).toEqual({ refusal: 'breaker_open' });
    limits.learn('acme', 30_000, 'works', false);
    expect(limits.enter('acme')).toEqual({ sentMs: 30_000 });
  });

  it('do not close for troubles with successes between them, or answers about one card', () => {
    const { limits } = gatesAt();
    for (let times = 0; times < 20; times += 1) {
      limits.learn('acme', 0, 'down', false);
      limits.learn('acme', 0, times % 2 === 0 ? 'works' : 'unsaid', false);
    }
    expect(limits.enter('acme')).toEqual({ sentMs: 0 });
  });

  it('let a thousand cards go at once, fewer after a throttle', () => {
    const { limits, wait } = gatesAt();
    for (let times = 0; times < 1_000; times += 1) limits.enter('acme');
    expect(limits.enter('acme')).toEqual({ refusal: 'too_fast' });
    limits.learn('acme', 0, 'works', true);
    wait(1);
    expect(limits.enter('acme')).toEqual({ refusal: 'too_fast' });
    wait(1_000);
    expect(limits.enter('acme')).toEqual({ sentMs: 1_001 });
  });

  it('say once a minute that something is wrong', () => {
    const { limits, wait } = gatesAt();
    expect(limits.isNews('acme', 'throttled')).toBe(true);
    expect(limits.isNews('acme', 'throttled')).toBe(false);
    expect(limits.isNews('acme', 'timeout')).toBe(true);
    expect(limits.isNews('other', 'throttled')).toBe(true);
    wait(60_000);
    expect(limits.isNews('acme', 'throttled')).toBe(true);
  });
});
