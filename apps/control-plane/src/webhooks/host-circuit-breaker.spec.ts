import { describe, expect, it } from 'vitest';
import { afterReply, probeNow, breakerState, CLOSED, type Breaker, type ReplyKind } from './host-circuit-breaker.js';

const after = (replies: readonly ReplyKind[], nowMs = 0, from: Breaker = CLOSED): Breaker =>
  replies.reduce((breaker, reply) => afterReply(breaker, reply, nowMs), from);
const UNANSWERED = Array<ReplyKind>(5).fill('no_response');

describe('the circuit breaker of a webhook host', () => {
  it('opens after five consecutive POSTs without a response', () => {
    expect(breakerState(after(UNANSWERED.slice(1)), 0)).toBe('closed');
    expect(breakerState(after(UNANSWERED), 0)).toBe('open');
    expect(breakerState(after([...UNANSWERED.slice(1), 'error_response', ...UNANSWERED.slice(1)]), 0)).toBe('closed');
  });

  it('is half open after a pause that doubles up to 30 seconds', () => {
    let breaker = after(UNANSWERED);
    let nowMs = 0;
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      pauses.push(breaker.openUntilMs - nowMs);
      nowMs = breaker.openUntilMs;
      expect(breakerState(breaker, nowMs - 1)).toBe('open');
      expect(breakerState(breaker, nowMs)).toBe('half_open');
      breaker = afterReply(breaker, 'no_response', nowMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('ignores POSTs that were in flight when it opened', () => {
    const open = after(UNANSWERED);
    expect(after(['no_response', 'no_response', 'no_response'], 500, open)).toEqual(open);
  });

  it('is half open at once when a probe is requested', () => {
    const probing = probeNow(after(UNANSWERED));
    expect([breakerState(probing, 0), afterReply(probing, 'no_response', 0).openUntilMs]).toEqual(['half_open', 2_000]);
    expect(probeNow(CLOSED)).toBe(CLOSED);
  });

  it('is not changed by a POST that never reached the host', () => {
    for (const before of [after(['no_response', 'no_response']), after(UNANSWERED)]) {
      expect(afterReply(before, 'not_sent', 100)).toBe(before);
    }
  });

  it.each(['success', 'error_response'] as const)('closes with any response: %s', (reply) => {
    expect(after([reply], 1_000, after(UNANSWERED))).toEqual(CLOSED);
  });
});
