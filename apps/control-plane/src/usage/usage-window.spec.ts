import { firstIdAt } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, idSpan, isSettled, planUsage, startOfMonth, type Span } from './usage-window.js';

const NOW = Date.UTC(2026, 10, 21, 17, 12, 5, 7);
const FOLDED_UNTIL = Date.UTC(2026, 10, 21, 16);
const at = (day: number, hour: number, ms = 0): number => Date.UTC(2026, 10, day, hour) + ms;
const plan = (fromMs: number, toMs: number) =>
  planUsage({ fromMs, toMs }, { nowMs: NOW, foldedUntilMs: FOLDED_UNTIL }, 30);
const span = (fromMs: number, toMs: number): Span => ({ fromMs, toMs });

describe('the plan of a usage window', () => {
  it('has the folded whole hours, and the edges before and after them', () => {
    expect(plan(at(20, 3, 1), at(20, 7, 2))).toEqual({
      period: span(at(20, 3, 1), at(20, 7, 2)),
      head: span(at(20, 3, 1), at(20, 4)),
      folded: span(at(20, 4), at(20, 7)),
      tail: span(at(20, 7), at(20, 7, 2)),
    });
  });

  it('has the hours that are not folded yet in its tail', () => {
    const { head, folded, tail } = plan(at(1, 0), NOW);
    expect({ head, folded, tail }).toEqual({
      head: span(at(1, 0), at(1, 0)),
      folded: span(at(1, 0), FOLDED_UNTIL),
      tail: span(FOLDED_UNTIL, NOW),
    });
  });

  it('has only a head within one hour, within open hours, or while nothing is folded', () => {
    for (const [from, to] of [
      [at(20, 3, 1), at(20, 3, 9)],
      [FOLDED_UNTIL, NOW],
    ] as const) {
      expect(plan(from, to)).toMatchObject({ head: span(from, to), tail: span(to, to) });
    }
    const fresh = planUsage(span(at(1, 0), NOW), { nowMs: NOW, foldedUntilMs: null }, 30);
    expect(fresh).toMatchObject({ head: span(at(1, 0), NOW), folded: span(NOW, NOW), tail: span(NOW, NOW) });
  });

  it('extends edges that are older than retention to the full hour', () => {
    const from = Date.UTC(2026, 8, 1, 5, 30);
    const to = Date.UTC(2026, 9, 1, 5, 30);
    const period = span(Date.UTC(2026, 8, 1, 5), Date.UTC(2026, 9, 1, 6));
    expect(plan(from, to)).toMatchObject({ period, folded: period });
    expect(plan(from, NOW).period).toEqual(span(period.fromMs, NOW));
  });

  it('begins with the month by default', () => {
    expect(startOfMonth(NOW)).toBe(at(1, 0));
    expect(startOfMonth(at(1, 0))).toBe(at(1, 0));
  });

  it('has adjacent parts without gaps or overlaps', () => {
    const moments = fc.integer({ min: NOW - 400 * DAY_MS, max: NOW + DAY_MS });
    const folded = fc.option(fc.integer({ min: -9_000, max: 0 }).map((hours) => FOLDED_UNTIL + hours * HOUR_MS));
    fc.assert(
      fc.property(moments, moments, folded, (one, other, foldedUntilMs) => {
        const window = span(Math.min(one, other), Math.max(one, other) + 1);
        const { period, ...cut } = planUsage(window, { nowMs: NOW, foldedUntilMs }, 30);
        const parts = [cut.head, cut.folded, cut.tail].filter(({ fromMs, toMs }) => fromMs < toMs);
        const joined = parts.every(({ toMs }, index) => toMs === (parts[index + 1]?.fromMs ?? period.toMs));
        expect(joined && parts[0]?.fromMs === period.fromMs).toBe(true);
        expect(period.fromMs <= window.fromMs && period.toMs >= window.toMs).toBe(true);
        if (cut.folded.fromMs < cut.folded.toMs) {
          expect([cut.folded.fromMs % HOUR_MS, cut.folded.toMs % HOUR_MS]).toEqual([0, 0]);
          expect(cut.folded.toMs).toBeLessThanOrEqual(foldedUntilMs ?? 0);
        }
      }),
    );
  });
});

describe('isSettled', () => {
  it('is true 10 minutes after the end of the longest session of the hour', () => {
    const hour = at(21, 15);
    expect(isSettled(hour, hour + HOUR_MS + 15 * 60_000 - 1)).toBe(false);
    expect(isSettled(hour, hour + HOUR_MS + 15 * 60_000)).toBe(true);
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
