import { parseRetryAfter, retryDelayMs } from './schedule.js';

/** The result of one POST. */
export type AttemptResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null }
  /**
   * No response: `error` is a short code for the operator, such as `timeout` or `ECONNREFUSED`. `notSent` where the egress
   * proxy failed before the request reached the receiver, so that it says nothing about the receiver.
   */
  | { readonly kind: 'failed'; readonly error: string; readonly notSent?: true }
  /** Target rules refuse the URL or its address; a retry would change nothing. */
  | { readonly kind: 'blocked'; readonly error: string };

/** An attempt as a delivery shows it (contract, Webhooks). */
export interface AttemptRecord {
  /** The start of the attempt, as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
  /** HTTP status of the response; null without one. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error?: string;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'blocked';

/** The new state of a delivery after an attempt. */
export interface Verdict {
  readonly status: DeliveryStatus;
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly attempt: AttemptRecord;
  /** The request did not reach the receiver. */
  readonly notSent?: true;
}

export interface Attempt {
  readonly result: AttemptResult;
  /** Number of this attempt, from 1. */
  readonly number: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** Set for a requested retry, beside the schedule. */
  readonly beside: BesideSchedule | null;
}

/** A requested retry: one attempt that the schedule does not count. */
export interface BesideSchedule {
  /** The next scheduled attempt; null when the schedule was over, so that this attempt is the last. */
  readonly resumesAt: Date | null;
}

const GONE = 410;

/**
 * Decides the new state of a delivery: 2xx is success; 410 ends it; a refused target is blocked; everything else, 3xx
 * included, is retried until the schedule is over. An attempt beside the schedule does not change the schedule.
 *
 * @param chance from 0 up to 1
 */
export function judgeAttempt({ result, number, startedMs, endedMs, beside }: Attempt, chance: number): Verdict {
  const attempt: AttemptRecord = {
    at: new Date(startedMs).toISOString(),
    status: result.kind === 'answered' ? result.status : null,
    latencyMs: Math.max(0, endedMs - startedMs),
    ...(result.kind === 'answered' ? {} : { error: result.error }),
  };
  const notSent = result.kind === 'failed' && result.notSent === true ? { notSent: true as const } : {};
  const ended = endedBy(result);
  if (ended !== null) return { status: ended, nextAttemptAt: null, attempt };
  if (beside !== null) return { ...resumed(beside, attempt, endedMs), ...notSent };
  const retryAfterMs = result.kind === 'answered' ? parseRetryAfter(result.retryAfter, endedMs) : null;
  const delayMs = retryDelayMs(number, retryAfterMs, chance);
  if (delayMs === null) return { status: 'failed', nextAttemptAt: null, attempt, ...notSent };
  return { status: 'pending', nextAttemptAt: new Date(endedMs + delayMs), attempt, ...notSent };
}

function resumed({ resumesAt }: BesideSchedule, attempt: AttemptRecord, nowMs: number): Verdict {
  if (resumesAt === null) return { status: 'failed', nextAttemptAt: null, attempt };
  return { status: 'pending', nextAttemptAt: new Date(Math.max(resumesAt.getTime(), nowMs)), attempt };
}

function endedBy(result: AttemptResult): 'succeeded' | 'failed' | 'blocked' | null {
  if (result.kind === 'blocked') return 'blocked';
  if (result.kind === 'failed') return null;
  if (result.status >= 200 && result.status < 300) return 'succeeded';
  return result.status === GONE ? 'failed' : null;
}
