import { ApiError, ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.js';

/**
 * When a call may be repeated:
 * `always`: repeating it changes nothing (GET, DELETE), or the service knows it again by its Idempotency-Key;
 * `when-untouched`: only after a refusal that came before the work, or when the request never left. `check` is one: an
 * answer that got lost may have counted an attempt.
 */
export type Repeatable = 'always' | 'when-untouched';

export interface RetryRules {
  /** Repetitions after the first try. */
  readonly maxRetries: number;
  /** When the service asks for a longer wait than this, the error is thrown instead. */
  readonly maxRetryAfterSeconds: number;
}

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 2_000;

/**
 * How long to wait before the next try; null when there is none.
 *
 * @param tries how many there have been
 * @param random from 0 up to, but not, 1: callers that failed together do not come back together
 */
export function waitBeforeRetry(
  error: unknown,
  repeatable: Repeatable,
  tries: number,
  { maxRetries, maxRetryAfterSeconds }: RetryRules,
  random: number,
): number | null {
  if (tries > maxRetries || !mayBeRepeated(error, repeatable)) return null;
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  if (asked > maxRetryAfterSeconds) return null;
  const step = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), LONGEST_BACKOFF_MS);
  return asked * 1_000 + Math.round(step * (0.5 + random / 2));
}

function mayBeRepeated(error: unknown, repeatable: Repeatable): boolean {
  if (error instanceof ApiError) return refusalMayPass(error, repeatable);
  if (error instanceof ConnectionError) return repeatable === 'always' || neverLeft(error.cause);
  if (error instanceof TimeoutError) return repeatable === 'always';
  return error instanceof UnexpectedAnswerError && repeatable === 'always' && error.status >= 500;
}

function refusalMayPass({ code, status }: ApiError, repeatable: Repeatable): boolean {
  // The quota is asked before anything is done.
  if (code === 'RATE_LIMITED') return true;
  return repeatable === 'always' && (status >= 500 || code === 'IDEMPOTENCY_IN_PROGRESS');
}

/** What undici, Node's fetch, says when there was no connection to send anything on. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** `fetch` throws a TypeError whose cause is the socket's error. */
function neverLeft(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return [thrown, cause].some((error) => error instanceof Error && 'code' in error && NO_CONNECTION.has(error.code));
}

const MAX_RETRY_AFTER_SECONDS = 86_400;

/** `Retry-After` (RFC 9110, 10.2.3) in whole seconds: a number of them, or a date. Undefined for what is neither. */
export function parseRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return Math.min(Number(trimmed), MAX_RETRY_AFTER_SECONDS);
  if (!HTTP_DATE.test(trimmed)) return undefined;
  const atMs = Date.parse(trimmed);
  if (Number.isNaN(atMs)) return undefined;
  return Math.min(Math.max(Math.ceil((atMs - nowMs) / 1_000), 0), MAX_RETRY_AFTER_SECONDS);
}

/** IMF-fixdate, the one form that is still sent. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
