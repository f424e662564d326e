import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptUntil, slotOf, windowOf } from './traffic-slots.js';

const at = (text: string): number => Date.parse(`2024-05-01T${text}Z`);
const HOUR_MS = 3_600_000;
const scope = fc.constantFrom('*', 'US', '001', '+1415555');
const moment = fc.integer({ min: at('00:00:00'), max: at('23:59:59') });

describe('the slots of traffic', () => {
  it.each([
    ['*', '12:34:56.789', '12:34:00'],
    ['US', '12:34:56.789', '12:34:00'],
    ['+1415555', '12:34:56.789', '12:30:00'],
    ['day', '12:34:56.789', '00:00:00'],
  ])('of %s at %s begin at %s', (name, moment_, begins) => {
    expect(slotOf(name, at(moment_))).toBe(at(begins));
  });

  it('make the window of a day from its one slot', () => {
    expect(windowOf('day', at('12:34:56'))).toEqual({ sendsFromMs: at('00:00:00'), approvalsFromMs: at('00:00:00') });
  });

  it('make a window of an hour that contains every send within the hour and no approval before it', () => {
    fc.assert(
      fc.property(scope, moment, fc.integer({ min: 0, max: 2 * HOUR_MS }), (name, nowMs, agoMs) => {
        const { sendsFromMs, approvalsFromMs } = windowOf(name, nowMs);
        const slot = slotOf(name, nowMs - agoMs);
        if (agoMs <= HOUR_MS) expect(slot).toBeGreaterThanOrEqual(sendsFromMs);
        if (slot >= approvalsFromMs) expect(agoMs).toBeLessThanOrEqual(HOUR_MS);
        expect(nowMs - sendsFromMs).toBeLessThanOrEqual(HOUR_MS + 5 * 60_000);
      }),
    );
  });

  it('are kept as long as a window reaches them', () => {
    fc.assert(
      fc.property(
        fc.oneof(scope, fc.constant('day')),
        moment,
        fc.integer({ min: 0, max: 48 * HOUR_MS }),
        (name, nowMs, agoMs) => {
          const slot = slotOf(name, nowMs - agoMs);
          if (slot >= windowOf(name, nowMs).sendsFromMs) expect(keptUntil(name, slot)).toBeGreaterThanOrEqual(nowMs);
        },
      ),
    );
  });
});
