const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between the attempts of one delivery (contract, Webhooks): ten attempts in a little more than a day. */
export const RETRY_STEPS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
];

/** Random deviation from a step, as a part of it: deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** Retry-After is honoured up to this many steps. */
const RETRY_AFTER_CEILING = 2;

/**
 * The wait after attempt number `made` (from 1), or null when that was the last one.
 *
 * @param retryAfterMs Retry-After of the response; honoured between one and two steps, without jitter
 * @param chance from 0 up to 1
 */
export function retryDelayMs(made: number, retryAfterMs: number | null, chance: number): number | null {
  const step = RETRY_STEPS_MS[made - 1];
  if (step === undefined) return null;
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, step), RETRY_AFTER_CEILING * step);
  return Math.round(step * (1 - JITTER + 2 * JITTER * chance));
}

/** Parses a Retry-After header (RFC 9110, 10.2.3: seconds or a date) as milliseconds from now; null for anything else. */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * SECOND;
  const dateMs = /^[A-Z][a-z]{2},? /.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}
