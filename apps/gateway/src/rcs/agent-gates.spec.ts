import { describe, expect, it } from 'vitest';
import { AgentGates } from './agent-gates.js';

function gatesAt(): { readonly gates: AgentGates; readonly wait: (ms: number) => void } {
  let nowMs = 0;
  const gates = new AgentGates({ nowMs: () => nowMs, random: () => 0.5 });
  return { gates, wait: (ms) => (nowMs += ms) };
}

describe('the gates of agents', () => {
  it('close for the agent that is in trouble, and for no other', () => {
    const { gates, wait } = gatesAt();
    gates.learn('acme', 0, 'forbidden', false);
    expect(gates.enter('acme')).toEqual({ refusal: 'breaker_open' });
    expect(gates.enter('other')).toEqual({ sentMs: 0 });
    wait(30_000);
    expect(gates.enter('acme')).toEqual({ sentMs: 30_000 });
    expect(gates.enter('acme')).toEqual({ refusal: 'breaker_open' });
    gates.learn('acme', 30_000, 'works', false);
    expect(gates.enter('acme')).toEqual({ sentMs: 30_000 });
  });

  it('do not close for troubles with successes between them, or answers about one card', () => {
    const { gates } = gatesAt();
    for (let times = 0; times < 20; times += 1) {
      gates.learn('acme', 0, 'down', false);
      gates.learn('acme', 0, times % 2 === 0 ? 'works' : 'unsaid', false);
    }
    expect(gates.enter('acme')).toEqual({ sentMs: 0 });
  });

  it('let a thousand cards go at once, fewer after a throttle', () => {
    const { gates, wait } = gatesAt();
    for (let times = 0; times < 1_000; times += 1) gates.enter('acme');
    expect(gates.enter('acme')).toEqual({ refusal: 'too_fast' });
    gates.learn('acme', 0, 'works', true);
    wait(1);
    expect(gates.enter('acme')).toEqual({ refusal: 'too_fast' });
    wait(1_000);
    expect(gates.enter('acme')).toEqual({ sentMs: 1_001 });
  });

  it('say once a minute that something is wrong', () => {
    const { gates, wait } = gatesAt();
    expect(gates.isNews('acme', 'throttled')).toBe(true);
    expect(gates.isNews('acme', 'throttled')).toBe(false);
    expect(gates.isNews('acme', 'timeout')).toBe(true);
    expect(gates.isNews('other', 'throttled')).toBe(true);
    wait(60_000);
    expect(gates.isNews('acme', 'throttled')).toBe(true);
  });
});
