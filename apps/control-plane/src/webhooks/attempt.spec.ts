import { describe, expect, it } from 'vitest';
import { judgeAttempt, type AttemptResult, type BesideSchedule } from './attempt.js';

const startedMs = Date.parse('2026-01-01T00:00:00.000Z');
const judge = (result: AttemptResult, number = 1, beside: BesideSchedule | null = null) =>
  judgeAttempt({ result, number, startedMs, endedMs: startedMs + 40, beside }, 0.5);
const answered = (status: number, retryAfter: string | null = null): AttemptResult => ({
  kind: 'answered',
  status,
  retryAfter,
});

describe('an attempt', () => {
  it.each([200, 201, 202, 204, 299])('with status %d succeeds', (status) => {
    expect(judge(answered(status))).toEqual({
      status: 'succeeded',
      nextAttemptAt: null,
      attempt: { at: '2026-01-01T00:00:00.000Z', status, latencyMs: 40 },
    });
  });

  it.each([100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 429, 500, 503])(
    'with status %d is retried',
    (status) => {
      expect(judge(answered(status))).toMatchObject({ status: 'pending', nextAttemptAt: new Date(startedMs + 5_040) });
    },
  );

  it('with status 410 ends the delivery', () => {
    expect(judge(answered(410))).toMatchObject({ status: 'failed', nextAttemptAt: null });
  });

  it('without a response is retried, and records the error', () => {
    expect(judge({ kind: 'failed', error: 'timeout' }, 2)).toEqual({
      status: 'pending',
      nextAttemptAt: new Date(startedMs + 30_040),
      attempt: { at: '2026-01-01T00:00:00.000Z', status: null, latencyMs: 40, error: 'timeout' },
    });
  });

  it('to a refused target blocks the delivery', () => {
    expect(judge({ kind: 'blocked', error: 'not public' })).toMatchObject({ status: 'blocked', nextAttemptAt: null });
  });

  it('honours Retry-After within bounds', () => {
    expect(judge(answered(429, '7'))).toMatchObject({ nextAttemptAt: new Date(startedMs + 7_040) });
    expect(judge(answered(503, '3600'))).toMatchObject({ nextAttemptAt: new Date(startedMs + 10_040) });
  });

  it('beside the schedule does not change the schedule, and is the last when that is over', () => {
    const later = new Date(startedMs + 9_000);
    expect(judge(answered(500), 3, { resumesAt: later })).toMatchObject({ status: 'pending', nextAttemptAt: later });
    expect(judge(answered(500), 3, { resumesAt: new Date(startedMs) })).toMatchObject({
      status: 'pending',
      nextAttemptAt: new Date(startedMs + 40),
    });
    expect(judge(answered(500), 3, { resumesAt: null })).toMatchObject({ status: 'failed', nextAttemptAt: null });
    expect(judge(answered(200), 3, { resumesAt: later })).toMatchObject({ status: 'succeeded', nextAttemptAt: null });
    expect(judge(answered(410), 3, { resumesAt: later })).toMatchObject({ status: 'failed', nextAttemptAt: null });
  });

  it('with number ten is the last one', () => {
    expect(judge(answered(500), 9).status).toBe('pending');
    expect(judge(answered(500), 10)).toMatchObject({ status: 'failed', nextAttemptAt: null });
  });
});
