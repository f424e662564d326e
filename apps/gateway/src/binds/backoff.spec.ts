import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JITTER_SHARE } from '@countersign/resilience';
import {
  afterAttempt,
  INITIAL_STATE,
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
  let course = INITIAL_STATE;
  return ends.map((end) => {
    const next = afterAttempt(course, end, hosts, NO_JITTER);
    course = next.state;
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

  it('stands off after a refused bind, longer each time, up to five minutes', () => {
    expect(waits(Array.from({ length: 7 }, () => refused(0x0e)))).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ]);
  });

  it.each([0x05, 0x0d, 0x0e, 0x0f])('takes status %i for a refusal', (status) => {
    expect(afterAttempt(INITIAL_STATE, refused(status), 1, NO_JITTER)).toMatchObject({
      standoff: true,
      waitMs: STANDOFF_FIRST_MS,
    });
  });

  it('takes any other bind status for a failure that may pass', () => {
    expect(afterAttempt(INITIAL_STATE, refused(0x08), 1, NO_JITTER)).toMatchObject({
      standoff: false,
      waitMs: RECONNECT_FIRST_MS,
    });
  });

  it('forgets what went wrong before a link that held for a minute', () => {
    const worn: ReconnectState = { failures: 9, refusals: 4, host: 0 };
    expect(afterAttempt(worn, { kind: 'lost', boundMs: STABLE_MS }, 1, NO_JITTER)).toEqual({
      course: { failures: 1, refusals: 0, host: 0 },
      waitMs: RECONNECT_FIRST_MS,
      standoff: false,
    });
  });

  it('keeps counting when links break soon after they are bound', () => {
    const short: AttemptEnd = { kind: 'lost', boundMs: STABLE_MS - 1 };
    expect(waits([unreachable, short, short])).toEqual([500, 1000, 2000]);
  });

  it('takes the hosts in turn', () => {
    let course = INITIAL_STATE;
    const hosts = [0, 1, 2, 3].map(() => {
      const { host } = course;
      course = afterAttempt(course, unreachable, 3, NO_JITTER).state;
      return host;
    });
    expect(hosts).toEqual([0, 1, 2, 0]);
  });

  it('never waits longer than its caps and their jitter, whatever happened before', () => {
    const end = fc.oneof(
      fc.constant(unreachable),
      fc.nat(0xff).map(refused),
      fc.nat(200_000).map((boundMs): AttemptEnd => ({ kind: 'lost', boundMs })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(end, fc.double({ min: 0, max: 0.999_999, noNaN: true })), { maxLength: 60 }),
        (ends) => {
          let course = INITIAL_STATE;
          for (const [what, random] of ends) {
            const next = afterAttempt(course, what, 2, random);
            const cap = next.standoff ? STANDOFF_CAP_MS : RECONNECT_CAP_MS;
            expect(next.waitMs).toBeLessThanOrEqual(cap * (1 + JITTER_SHARE));
            expect(next.waitMs).toBeGreaterThanOrEqual(RECONNECT_FIRST_MS * (1 - JITTER_SHARE));
            course = next.state;
          }
        },
      ),
    );
  });
});
