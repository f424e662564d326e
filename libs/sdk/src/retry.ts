import { ApiError, ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.js';

/**
 * When a call may be retried.
 *
 * - `always`: a repetition has no effect (GET, DELETE), or the service recognises it by its Idempotency-Key;
 * - `when-untouched`: only after a refusal before the work, or when the request was not sent. `check` is one: a lost
 *   response may have counted an attempt.
 */
export type Repeatable = 'always' | 'when-untouched';

export interface RetryRules {
  /** Retries after the first attempt. */
  readonly maxRetries: number;
  /** A longer `Retry-After` of the service throws the error instead of waiting. */
  readonly maxRetryAfterSeconds: number;
}

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 2_000;

/**
 * The wait before the next attempt; null when there is none.
 *
 * @param tries number of attempts so far
 * @param random from 0 (inclusive) to 1 (exclusive): callers that failed together retry at different times
 */
export function waitBeforeRetry(
  error: unknown,
  repeatable: Repeatable,
  tries: number,
  { maxRetries, maxRetryAfterSeconds }: RetryRules,
  random: number,
): number | null {
  if (tries > maxRetries || !mayBeRepeated(error, repeatable)) return null;
  const retryAfterSeconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  if (retryAfterSeconds > maxRetryAfterSeconds) return null;
  const step = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), LONGEST_BACKOFF_MS);
  return retryAfterSeconds * 1_000 + Math.round(step * (0.5 + random / 2));
}

function mayBeRepeated(error: unknown, repeatable: Repeatable): boolean {
  if (error instanceof ApiError) return isTemporaryRefusal(error, repeatable);
  if (error instanceof ConnectionError) return repeatable === 'always' || wasNotSent(error.cause);
  if (error instanceof TimeoutError) return repeatable === 'always';
  return error instanceof UnexpectedAnswerError && repeatable === 'always' && error.status >= 500;
}

function isTemporaryRefusal({ code, status }: ApiError, repeatable: Repeatable): boolean {
  // The quota is checked before any work is done.
  if (code === 'RATE_LIMITED') return true;
  return repeatable === 'always' && (status >= 500 || code === 'IDEMPOTENCY_IN_PROGRESS');
}

/** Codes of undici (Node's fetch) for a connection that could not be opened. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** `fetch` throws a TypeError whose cause is the socket's error. */
function wasNotSent(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return [thrown, cause].some((error) => error instanceof Error && 'code' in error && NO_CONNECTION.has(error.code));
}
