import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostRate } from './host-rate.js';

/** The times of POSTs that are sent as soon as the rate allows. */
function sentAt(rate: HostRate, host: string, count: number, fromMs = 0): number[] {
  let nowMs = fromMs;
  return Array.from({ length: count }, () => {
    nowMs += rate.waitMs(host, nowMs);
    rate.countSent(host, nowMs);
    return nowMs;
  });
}

describe('the rate of a host', () => {
  it('allows one second’s worth at once, and then one POST after the other', () => {
    expect(sentAt(new HostRate(4), 'a', 7)).toEqual([0, 0, 0, 0, 250, 500, 750]);
  });

  it('allows one second’s worth again after a pause, and no more', () => {
    const rate = new HostRate(2);
    sentAt(rate, 'a', 3);
    expect(sentAt(rate, 'a', 3, 60_000)).toEqual([60_000, 60_000, 60_500]);
  });

  it('is independent of other hosts', () => {
    const rate = new HostRate(1);
    sentAt(rate, 'a', 3);
    expect(rate.waitMs('b', 0)).toBe(0);
  });

  it('never allows more than twice the rate in any second', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (perSecond, waits) => {
        const rate = new HostRate(perSecond);
        const sent: number[] = [];
        let nowMs = 0;
        for (const pauseMs of waits) {
          nowMs += pauseMs + Math.ceil(rate.waitMs('a', nowMs + pauseMs));
          rate.countSent('a', nowMs);
          sent.push(nowMs);
        }
        for (const from of sent) {
          expect(sent.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(2 * perSecond);
        }
      }),
    );
  });

  it('remembers the ten thousand most recent hosts', () => {
    const rate = new HostRate(1);
    for (let host = 0; host < 25_000; host++) rate.countSent(`host-${host}`, 0);
    expect([rate.waitMs('host-24999', 0), rate.waitMs('host-15000', 0), rate.waitMs('host-14999', 0)]).toEqual([
      1_000, 1_000, 0,
    ]);
  });
});
