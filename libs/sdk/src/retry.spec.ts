import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiErrorOf, ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.js';
import { parseRetryAfter } from './retry-after.js';
import { waitBeforeRetry, type Repeatable } from './retry.js';

const RULES = { maxRetries: 2, maxRetryAfterSeconds: 5 };
const refusal = (code: string, status: number, retryAfterSeconds?: number): Error =>
  apiErrorOf(code, { status, message: '', retryAfterSeconds });
const network = (code: string): Error =>
  new ConnectionError('no answer', {
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }),
  });

const wait = (error: unknown, repeatable: Repeatable, tries = 1, random = 0): number | null =>
  waitBeforeRetry(error, repeatable, tries, RULES, random);

describe('a call is retried', () => {
  it.each<[string, unknown, boolean, boolean]>([
    // cause, error, retried with a key or without effect, retried for a check
    ['the quota is exhausted', refusal('RATE_LIMITED', 429, 1), true, true],
    ['the service is unavailable', refusal('SERVICE_UNAVAILABLE', 503, 1), true, false],
    ['the service failed', refusal('INTERNAL_ERROR', 500), true, false],
    ['an unknown code has status 5xx', refusal('OVERLOADED', 529), true, false],
    ['the first is still running', refusal('IDEMPOTENCY_IN_PROGRESS', 409), true, false],
    ['a proxy answers 502', new UnexpectedAnswerError(502, undefined), true, false],
    ['the connection broke', network('ECONNRESET'), true, false],
    ['the other end closed', network('UND_ERR_SOCKET'), true, false],
    ['nobody answered', new TimeoutError('no answer'), true, false],
    ['nobody listens', network('ECONNREFUSED'), true, true],
    ['there is no such name', network('ENOTFOUND'), true, true],
    ['the connection could not be opened', network('UND_ERR_CONNECT_TIMEOUT'), true, true],
    ['codes were tried too often', refusal('TOO_MANY_ATTEMPTS', 429, 1), false, false],
    ['codes were sent too often', refusal('SEND_LIMIT_REACHED', 429, 1), false, false],
    ['the key is wrong', refusal('UNAUTHORIZED', 401), false, false],
    ['a field is wrong', refusal('VALIDATION_ERROR', 422), false, false],
    ['the code is wrong', refusal('INVALID_CODE', 422), false, false],
    ['the session has ended', refusal('SESSION_NOT_PENDING', 409), false, false],
    ['an answer with status 200 is not a session', new UnexpectedAnswerError(200, undefined), false, false],
    ['something else was thrown', new RangeError(), false, false],
  ])('when %s, where that is safe', (_what, error, always, check) => {
    expect(wait(error, 'always') !== null).toBe(always);
    expect(wait(error, 'when-untouched') !== null).toBe(check);
  });

  it('as often as the options allow, each time after a longer wait', () => {
    const error = network('ECONNRESET');
    expect([1, 2, 3].map((tries) => wait(error, 'always', tries))).toEqual([100, 200, null]);
    expect(waitBeforeRetry(error, 'always', 12, { ...RULES, maxRetries: 20 }, 0.999)).toBeLessThanOrEqual(2_000);
  });

  it('at another time than other calls that failed together', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
        const waitMs = wait(network('ECONNRESET'), 'always', 1, random);
        expect(waitMs).toBeGreaterThanOrEqual(100);
        expect(waitMs).toBeLessThanOrEqual(200);
      }),
    );
  });

  it('not before Retry-After, and not at all when that is too long', () => {
    expect(wait(refusal('RATE_LIMITED', 429, 5), 'always')).toBe(5_100);
    expect(wait(refusal('RATE_LIMITED', 429, 6), 'always')).toBeNull();
    expect(wait(refusal('SERVICE_UNAVAILABLE', 503, 3_600), 'always')).toBeNull();
  });
});

describe('Retry-After', () => {
  const NOW = Date.parse('2026-11-21T12:00:00.000Z');

  it.each([
    ['0', 0],
    ['17', 17],
    [' 17 ', 17],
    ['99999999999', 86_400],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 86_400],
  ])('%j is %i seconds', (text, seconds) => {
    expect(parseRetryAfter(text, NOW)).toBe(seconds);
  });

  it.each([null, '', '-1', '1.5', '1e3', '0x10', 'soon', '2026-11-21', 'Sat, 41 Nov 2026 12:00:30 GMT', '٣'])(
    '%j gives nothing',
    (text) => {
      expect(parseRetryAfter(text, NOW)).toBeUndefined();
    },
  );

  it('is at most the seconds of a day', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.stringMatching(/^\d+$/),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (text) => {
          const seconds = parseRetryAfter(text, NOW) ?? 0;
          expect(Number.isInteger(seconds) && seconds >= 0 && seconds <= 86_400).toBe(true);
        },
      ),
    );
  });
});
