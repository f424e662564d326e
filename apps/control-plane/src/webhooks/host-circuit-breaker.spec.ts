import type { CircuitBreaker } from '@countersign/resilience';
import { describe, expect, it } from 'vitest';
import { hostBreaker, recordReply, type ReplyKind } from './host-circuit-breaker.js';

const after = (replies: readonly ReplyKind[], nowMs = 0, breaker = hostBreaker()): CircuitBreaker => {
  for (const reply of replies) recordReply(breaker, reply, nowMs);
  return breaker;
};
const UNANSWERED = Array<ReplyKind>(5).fill('no_response');

describe('the circuit breaker of a webhook host', () => {
  it('opens after five consecutive POSTs without a response', () => {
    expect(after(UNANSWERED.slice(1)).state(0)).toBe('closed');
    expect(after(UNANSWERED).state(0)).toBe('open');
    expect(after([...UNANSWERED.slice(1), 'error_response', ...UNANSWERED.slice(1)]).state(0)).toBe('closed');
  });

  it('is half open after a pause that doubles up to 30 seconds', () => {
    const breaker = after(UNANSWERED);
    let nowMs = 0;
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      pauses.push(breaker.openUntilMs - nowMs);
      nowMs = breaker.openUntilMs;
      expect(breaker.state(nowMs - 1)).toBe('open');
      expect(breaker.state(nowMs)).toBe('half_open');
      recordReply(breaker, 'no_response', nowMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('ignores POSTs that were in flight when it opened', () => {
    const breaker = after(['no_response', 'no_response', 'no_response'], 500, after(UNANSWERED));
    expect(breaker.openUntilMs).toBe(1_000);
    expect(after(['no_response'], 1_000, breaker).openUntilMs).toBe(3_000);
  });

  it('is half open at once when a probe is requested', () => {
    const breaker = after(UNANSWERED);
    breaker.halfOpen();
    expect(breaker.state(0)).toBe('half_open');
    expect(after(['no_response'], 0, breaker).openUntilMs).toBe(2_000);
  });

  it('is not changed by a POST that never reached the host', () => {
    const failing = after(['no_response', 'no_response', 'not_sent', 'no_response', 'no_response']);
    expect([failing.state(0), after(['no_response'], 0, failing).state(0)]).toEqual(['closed', 'open']);
    expect(after(['not_sent'], 100, after(UNANSWERED)).openUntilMs).toBe(1_000);
  });

  it.each(['success', 'error_response'] as const)('closes with any response: %s', (reply) => {
    const breaker = after([reply], 1_000, after(UNANSWERED));
    expect([breaker.state(1_000), breaker.isPristine]).toEqual(['closed', true]);
  });
});
