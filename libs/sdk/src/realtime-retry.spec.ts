import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endAfter, failuresAfter, pauseAfterRefusal, waitBeforeReconnect } from './realtime-retry.js';

const BACKOFF = { firstMs: 500, longestMs: 30_000 };
const LOST = { code: 1_006, httpStatus: null, reconnectAfterMs: null, readyMs: null };

describe('a connection that ended', () => {
  it.each([
    [1_000, null, null, null],
    [1_001, null, null, null],
    [1_006, null, null, null],
    [4_400, null, 'protocol', 'protocol'],
    [4_401, null, 'unauthorized', null],
    [4_403, null, 'forbidden', 'forbidden'],
    [4_408, null, null, null],
    [4_429, null, null, null],
    [4_503, null, null, null],
    [4_999, null, null, null],
    [1_006, 401, 'unauthorized', 'unauthorized'],
    [1_006, 403, 'forbidden', 'forbidden'],
    [1_006, 404, 'forbidden', 'forbidden'],
    [1_006, 429, null, null],
    [1_006, 503, null, null],
  ])('with code %i and HTTP %s ends all for a key: %s, for a ticket: %s', (code, httpStatus, byKey, byTicket) => {
    const end = { code, httpStatus };
    expect(endAfter(end, { refusals: 1, byTicket: false })?.reason ?? null).toBe(byKey);
    expect(endAfter(end, { refusals: 1, byTicket: true })?.reason ?? null).toBe(byTicket);
  });

  it('with the third ticket that was refused in a row ends all', () => {
    const reasonAfter = (refusals: number): string | undefined =>
      endAfter({ code: 4_401, httpStatus: null }, { refusals, byTicket: true })?.reason;
    expect([1, 2, 3].map(reasonAfter)).toEqual([undefined, undefined, 'unauthorized']);
  });

  it('counts as a failure unless it lasted', () => {
    expect([failuresAfter({ readyMs: null }, 2), failuresAfter({ readyMs: 9_999 }, 2)]).toEqual([3, 3]);
    expect(failuresAfter({ readyMs: 10_000 }, 2)).toBe(0);
  });
});

describe('the wait before the next connection', () => {
  it('is anything up to a bound that doubles, and never exceeds the longest', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, random) => {
        const waitMs = waitBeforeReconnect(LOST, failures, BACKOFF, random);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual(Math.min(500 * 2 ** failures, 30_000));
      }),
    );
    expect([0, 1, 2, 6, 7].map((failures) => waitBeforeReconnect(LOST, failures, BACKOFF, 0.999999))).toEqual([
      500, 1_000, 2_000, 30_000, 30_000,
    ]);
    expect(waitBeforeReconnect(LOST, 7, BACKOFF, 0)).toBe(0);
  });

  it('is the delay requested by the service, if any', () => {
    expect(waitBeforeReconnect({ ...LOST, reconnectAfterMs: 2_345 }, 9, BACKOFF, 0.5)).toBe(2_345);
  });

  it('is at least a second after a limit', () => {
    expect(waitBeforeReconnect({ ...LOST, code: 4_429 }, 0, BACKOFF, 0)).toBe(1_000);
  });
});

describe('a subscription that was refused', () => {
  it.each([
    ['SERVICE_UNAVAILABLE', 0, 500],
    ['SERVICE_UNAVAILABLE', 0.5, 1_000],
    ['INTERNAL_ERROR', 0.5, 1_000],
    ['RATE_LIMITED', 0, 5_000],
    ['RATE_LIMITED', 0.5, 10_000],
    ['SESSION_NOT_FOUND', 0.5, null],
    ['FORBIDDEN', 0.5, null],
  ])('with %s waits, at the random number %d, %j ms', (code, random, waitMs) => {
    expect(pauseAfterRefusal(code, BACKOFF, random)).toBe(waitMs);
  });

  it('waits no longer than the longest backoff around which it spreads', () => {
    expect(pauseAfterRefusal('RATE_LIMITED', { firstMs: 1, longestMs: 20 }, 0.5)).toBe(20);
  });
});
