import { firstIdAt } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DAY_MS,
  HOUR_MS,
  idSpan,
  MINUTE_MS,
  nextToSettle,
  planUsage,
  settledEndMs,
  startOfMonth,
  type Span,
  type UsageClock,
} from './usage-window.js';

const NOW = Date.UTC(2026, 10, 21, 17, 12, 5, 7);
const FOLDED_UNTIL = Date.UTC(2026, 10, 21, 16);
const SETTLED_UNTIL = Date.UTC(2026, 10, 21, 16, 57);
const at = (day: number, hour: number, ms = 0): number => Date.UTC(2026, 10, day, hour) + ms;
const span = (fromMs: number, toMs: number): Span => ({ fromMs, toMs });
const CLOCK = {
  nowMs: NOW,
  foldedUntilMs: FOLDED_UNTIL,
  progress: { minutesFromMs: at(10, 0), settledUntilMs: SETTLED_UNTIL, openFromMs: at(10, 0), foldedXid: 7 },
} satisfies UsageClock;
const plan = (fromMs: number, toMs: number, clock: UsageClock = CLOCK) => planUsage({ fromMs, toMs }, clock, 30);

const isEmpty = ({ fromMs, toMs }: Span): boolean => fromMs >= toMs;

describe('the plan of a usage window', () => {
  it('has whole hours and whole minutes, and counts the sessions of the edges', () => {
    const { counted, ...parts } = plan(at(20, 3, 90_001), at(20, 7, 60_002));
    expect(parts).toMatchObject({
      period: span(at(20, 3, 90_001), at(20, 7, 60_002)),
      hours: span(at(20, 4), at(20, 7)),
      minutes: span(at(20, 3, 2 * MINUTE_MS), at(20, 7, MINUTE_MS)),
    });
    expect(counted.slice(0, 2)).toEqual([
      span(at(20, 3, 90_001), at(20, 3, 2 * MINUTE_MS)),
      span(at(20, 7, MINUTE_MS), at(20, 7, 60_002)),
    ]);
    expect([parts.open, counted[2]].every(isEmpty)).toBe(true);
  });

  it('counts no session one by one until now', () => {
    const { hours, minutes, open, counted } = plan(at(11, 0), NOW);
    expect({ hours, minutes, open }).toEqual({
      hours: span(at(11, 0), FOLDED_UNTIL),
      minutes: span(at(11, 0), NOW),
      open: span(SETTLED_UNTIL, NOW),
    });
    expect(counted.every(isEmpty)).toBe(true);
  });

  it('counts the minutes of a gap between settled and open ones', () => {
    const progress = { ...CLOCK.progress, openFromMs: at(21, 17, 2 * MINUTE_MS) };
    const { open, counted } = plan(at(11, 0), NOW, { ...CLOCK, progress });
    expect([open, counted[2]]).toEqual([span(progress.openFromMs, NOW), span(SETTLED_UNTIL, progress.openFromMs)]);
  });

  it('counts all sessions of a window within one minute, and while nothing is folded', () => {
    const window = span(at(20, 3, 1), at(20, 3, 9));
    expect(plan(window.fromMs, window.toMs).counted[0]).toEqual(window);
    const fresh = plan(at(1, 0), NOW, { nowMs: NOW, foldedUntilMs: null, progress: null });
    expect(fresh.counted[0]).toEqual(span(at(1, 0), NOW));
    expect([fresh.hours, fresh.minutes, fresh.open].every(isEmpty)).toBe(true);
  });

  it('has no minutes of the time before they were kept', () => {
    const { counted, hours, minutes } = plan(at(9, 3, 1), at(9, 7, 9));
    expect({ hours, minutes }).toEqual({ hours: span(at(9, 4), at(9, 7)), minutes: span(at(9, 4), at(9, 7)) });
    expect(counted.slice(0, 2)).toEqual([span(at(9, 3, 1), at(9, 4)), span(at(9, 7), at(9, 7, 9))]);
  });

  it('extends edges that are older than retention to the full hour', () => {
    const from = Date.UTC(2026, 8, 1, 5, 30);
    const to = Date.UTC(2026, 9, 1, 5, 30);
    const period = span(Date.UTC(2026, 8, 1, 5), Date.UTC(2026, 9, 1, 6));
    expect(plan(from, to)).toMatchObject({ period, hours: period });
    expect(plan(from, NOW).period).toEqual(span(period.fromMs, NOW));
  });

  it('begins with the month by default', () => {
    expect(startOfMonth(NOW)).toBe(at(1, 0));
    expect(startOfMonth(at(1, 0))).toBe(at(1, 0));
  });

  it('has each moment in one part, and changes only of moments that have minutes', () => {
    const moments = fc.integer({ min: NOW - 40 * DAY_MS, max: NOW + DAY_MS });
    const progress = fc.record({
      minutesFromMs: fc.integer({ min: -900, max: 0 }).map((hours) => FOLDED_UNTIL + hours * HOUR_MS),
      settledUntilMs: fc.integer({ min: 0, max: 75 }).map((minutes) => FOLDED_UNTIL + minutes * MINUTE_MS),
      openFromMs: fc.integer({ min: -100, max: 80 }).map((minutes) => FOLDED_UNTIL + minutes * MINUTE_MS),
      foldedXid: fc.constant(7),
    });
    // An earlier release may have folded hours whose minutes are not settled.
    const folded = fc.constantFrom(FOLDED_UNTIL, FOLDED_UNTIL + HOUR_MS);
    fc.assert(
      fc.property(moments, moments, progress, folded, moments, (one, other, reached, foldedUntilMs, moment) => {
        const window = span(Math.min(one, other), Math.max(one, other) + 1);
        const clock = { nowMs: NOW, foldedUntilMs, progress: reached };
        const { period, hours, minutes, open, counted } = planUsage(window, clock, 30);
        const has = ({ fromMs, toMs }: Span): boolean => fromMs <= moment && moment < toMs;
        const stillMs = Math.max(reached.settledUntilMs, reached.openFromMs);
        // No row exists of the minutes of a gap.
        const isGap = reached.settledUntilMs <= moment && moment < stillMs;
        const inMinutes = has(minutes) && !has(hours) && !isGap;
        const parts = [has(hours), inMinutes, ...counted.map(has)];
        expect(parts.filter(Boolean)).toHaveLength(has(period) ? 1 : 0);
        expect(has(open)).toBe(inMinutes && moment >= stillMs);
        expect(inMinutes && moment < reached.minutesFromMs).toBe(false);
        expect(has(hours) && moment >= foldedUntilMs).toBe(false);
        expect(period.fromMs <= window.fromMs && period.toMs >= window.toMs).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('minutes', () => {
  it('are settled 10 minutes after the end of their longest session', () => {
    expect(settledEndMs(at(21, 15, 15 * MINUTE_MS))).toBe(at(21, 15));
    expect(settledEndMs(at(21, 15, 15 * MINUTE_MS - 1))).toBe(at(21, 15, -MINUTE_MS));
  });

  it('are settled up to the end of an hour at a time', () => {
    const from = (settledUntilMs: number): Span => nextToSettle(settledUntilMs, NOW);
    expect(from(at(21, 14, MINUTE_MS))).toEqual(span(at(21, 14, MINUTE_MS), at(21, 15)));
    expect(from(at(21, 16))).toEqual(span(at(21, 16), SETTLED_UNTIL));
    expect(isEmpty(from(SETTLED_UNTIL))).toBe(true);
  });
});

describe('the id range of a span', () => {
  it('is wider than the span, and empty for an empty span', () => {
    const { low, sessionHigh, messageHigh } = idSpan(span(NOW, NOW + 1));
    expect([low, sessionHigh, messageHigh]).toEqual([
      firstIdAt(NOW - 360_000),
      firstIdAt(NOW + 60_001),
      firstIdAt(NOW + 360_001),
    ]);
    const none = idSpan(span(NOW, NOW));
    expect(new Set([none.low, none.sessionHigh, none.messageHigh]).size).toBe(1);
  });

  it('exists for any time', () => {
    expect(idSpan(span(0, 1)).low).toBe(firstIdAt(0));
  });
});
