import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JITTER_SHARE } from '@countersign/resilience';
import {
  afterAttempt,
  afterRefusedFailback,
  failbackWaitMs,
  INITIAL_STATE,
  initialState,
  preferredHost,
  RECONNECT_CAP_MS,
  RECONNECT_FIRST_MS,
  STABLE_MS,
  STANDOFF_CAP_MS,
  STANDOFF_FIRST_MS,
  type AttemptEnd,
  type ReconnectState,
} from './backoff.js';

const NO_JITTER = 0.5;

function waits(ends: readonly AttemptEnd[], hosts = 1): number[] {
  let state = INITIAL_STATE;
  return ends.map((end) => {
    const next = afterAttempt(state, end, hosts, NO_JITTER);
    state = next.state;
    return next.waitMs;
  });
}

const unreachable: AttemptEnd = { kind: 'unreachable' };
const refused = (status: number): AttemptEnd => ({ kind: 'refused', status });

describe('backoff', () => {
  it('doubles from half a second and stops at ten', () => {
    expect(waits(Array.from({ length: 8 }, () => unreachable))).toEqual([
      500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000,
    ]);
  });

  it('uses a standoff after a refused bind, doubled each time, up to five minutes', () => {
    expect(waits(Array.from({ length: 7 }, () => refused(0x0e)))).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ]);
  });

  it.each([0x05, 0x0d, 0x0e, 0x0f])('treats status %i as a refusal', (status) => {
    expect(afterAttempt(INITIAL_STATE, refused(status), 1, NO_JITTER)).toMatchObject({
      standoff: true,
      waitMs: STANDOFF_FIRST_MS,
    });
  });

  it('treats any other bind status as a temporary failure', () => {
    expect(afterAttempt(INITIAL_STATE, refused(0x08), 1, NO_JITTER)).toMatchObject({
      standoff: false,
      waitMs: RECONNECT_FIRST_MS,
    });
  });

  it('resets its counters after a link that was bound for a minute', () => {
    const unstable: ReconnectState = { ...INITIAL_STATE, failures: 9, refusals: 4, failbackRefusals: 3 };
    expect(afterAttempt(unstable, { kind: 'lost', boundMs: STABLE_MS }, 1, NO_JITTER)).toEqual({
      state: { ...INITIAL_STATE, failures: 1 },
      waitMs: RECONNECT_FIRST_MS,
      standoff: false,
    });
  });

  it('keeps counting when links are lost soon after the bind', () => {
    const short: AttemptEnd = { kind: 'lost', boundMs: STABLE_MS - 1 };
    expect(waits([unreachable, short, short])).toEqual([500, 1000, 2000]);
  });

  it('tries the hosts in rotation', () => {
    let state = INITIAL_STATE;
    const hosts = [0, 1, 2, 3].map(() => {
      const { host } = state;
      state = afterAttempt(state, unreachable, 3, NO_JITTER).state;
      return host;
    });
    expect(hosts).toEqual([0, 1, 2, 0]);
  });

  it('prefers a host for each connection, in turn', () => {
    expect([0, 1, 2, 3].map((slot) => preferredHost(slot, 2))).toEqual([0, 1, 0, 1]);
    expect(initialState(1, 2).host).toBe(1);
    expect(preferredHost(3, 0)).toBe(0);
  });

  it('tries to fail back after 20 s, and twice as late after each refusal, up to ten minutes', () => {
    let state = INITIAL_STATE;
    const delays = Array.from({ length: 7 }, () => {
      const waitMs = failbackWaitMs(state, NO_JITTER);
      state = afterRefusedFailback(state);
      return waitMs;
    });
    expect(delays).toEqual([20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
    expect(afterAttempt(state, unreachable, 2, NO_JITTER).state.failbackRefusals).toBe(7);
  });

  it('binds at the preferred host at once after an unbind for it', () => {
    const state: ReconnectState = { ...INITIAL_STATE, failures: 2, refusals: 1, failbackRefusals: 1, host: 1 };
    expect(afterAttempt(state, { kind: 'moved', host: 0 }, 2, NO_JITTER)).toEqual({
      state: { ...state, host: 0, leftHost: 1 },
      waitMs: 0,
      standoff: false,
    });
  });

  it.each([refused(0x05), refused(0x0d), unreachable])(
    'returns at once, without a standoff, to the host that was unbound when the preferred one then fails: %j',
    (end) => {
      const bound: ReconnectState = { ...INITIAL_STATE, failbackRefusals: 1, host: 2 };
      const moved = afterAttempt(bound, { kind: 'moved', host: 0 }, 3, NO_JITTER);
      const returned = afterAttempt(moved.state, end, 3, NO_JITTER);
      expect(returned).toEqual({ state: bound, waitMs: 0, standoff: false });
      expect(afterAttempt(returned.state, end, 3, NO_JITTER).waitMs).toBeGreaterThan(0);
    },
  );

  it('does not return to the host that was unbound after a bind at the preferred one', () => {
    const { state } = afterAttempt(INITIAL_STATE, { kind: 'moved', host: 1 }, 2, NO_JITTER);
    const lost = afterAttempt(state, { kind: 'lost', boundMs: 1 }, 2, NO_JITTER);
    expect([lost.waitMs, lost.state.leftHost]).toEqual([RECONNECT_FIRST_MS, null]);
  });

  it('never exceeds its caps and their jitter, after any sequence of attempts', () => {
    const end = fc.oneof(
      fc.constant(unreachable),
      fc.nat(0xff).map(refused),
      fc.nat(200_000).map((boundMs): AttemptEnd => ({ kind: 'lost', boundMs })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(end, fc.double({ min: 0, max: 0.999_999, noNaN: true })), { maxLength: 60 }),
        (ends) => {
          let state = INITIAL_STATE;
          for (const [attemptEnd, random] of ends) {
            const next = afterAttempt(state, attemptEnd, 2, random);
            const cap = next.standoff ? STANDOFF_CAP_MS : RECONNECT_CAP_MS;
            expect(next.waitMs).toBeLessThanOrEqual(cap * (1 + JITTER_SHARE));
            expect(next.waitMs).toBeGreaterThanOrEqual(RECONNECT_FIRST_MS * (1 - JITTER_SHARE));
            state = next.state;
          }
        },
      ),
    );
  });
});
