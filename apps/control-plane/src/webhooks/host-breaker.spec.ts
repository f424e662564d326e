import { describe, expect, it } from 'vitest';
import { afterReply, askedEarly, breakerState, CLOSED, type Breaker, type Reply } from './host-breaker.js';

const after = (replies: readonly Reply[], nowMs = 0, from: Breaker = CLOSED): Breaker =>
  replies.reduce((breaker, reply) => afterReply(breaker, reply, nowMs), from);
const SILENT = Array<Reply>(5).fill('none');

describe('the breaker of a host', () => {
  it('leaves it alone after five POSTs in a row without an answer', () => {
    expect(breakerState(after(SILENT.slice(1)), 0)).toBe('open');
    expect(breakerState(after(SILENT), 0)).toBe('shut');
    expect(breakerState(after([...SILENT.slice(1), 'badly', ...SILENT.slice(1)]), 0)).toBe('open');
  });

  it('lets one ask after a pause, which doubles up to half a minute', () => {
    let breaker = after(SILENT);
    let nowMs = 0;
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      pauses.push(breaker.pausedUntilMs - nowMs);
      nowMs = breaker.pausedUntilMs;
      expect(breakerState(breaker, nowMs - 1)).toBe('shut');
      expect(breakerState(breaker, nowMs)).toBe('ajar');
      breaker = afterReply(breaker, 'none', nowMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is not moved by what was under way when the pause began', () => {
    const shut = after(SILENT);
    expect(after(['none', 'none', 'none'], 500, shut)).toEqual(shut);
  });

  it('lets one ask at once when somebody believes that it is back', () => {
    const asked = askedEarly(after(SILENT));
    expect([breakerState(asked, 0), afterReply(asked, 'none', 0).pausedUntilMs]).toEqual(['ajar', 2_000]);
    expect(askedEarly(CLOSED)).toBe(CLOSED);
  });

  it('stays as it is when the host heard nothing', () => {
    for (const before of [after(['none', 'none']), after(SILENT)]) {
      expect(afterReply(before, 'unasked', 100)).toBe(before);
    }
  });

  it.each(['well', 'badly'] as const)('opens wholly with an answer, a bad one too: %s', (reply) => {
    expect(after([reply], 1_000, after(SILENT))).toEqual(CLOSED);
  });
});
