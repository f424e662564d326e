import { parseRetryAfter, retryDelayMs } from './schedule.js';

/** What came of one POST. */
export type AttemptResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null }
  /**
   * No answer: `error` is a short word for the operator, such as `timeout` or `ECONNREFUSED`. `notSent` where the fault is of
   * our own way out and the receiver heard nothing, so that it says nothing of the receiver.
   */
  | { readonly kind: 'failed'; readonly error: string; readonly notSent?: true }
  /** The target may not be called; trying again would change nothing. */
  | { readonly kind: 'blocked'; readonly error: string };

/** An attempt as a delivery shows it (contract, Webhooks). */
export interface AttemptRecord {
  /** When it began, as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
  /** The HTTP status of the answer, null without one. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error?: string;
}

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'blocked';

/** What a delivery becomes after an attempt. */
export interface Verdict {
  readonly status: DeliveryStatus;
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly attempt: AttemptRecord;
  /** It says nothing of the receiver, which heard nothing. */
  readonly notSent?: true;
}

export interface Attempt {
  readonly result: AttemptResult;
  /** Number of this attempt, from 1. */
  readonly number: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** Set for an attempt that somebody asked for, beside the schedule. */
  readonly beside: BesideSchedule | null;
}

/** A retry that was asked for: one attempt that the schedule does not count. */
export interface BesideSchedule {
  /** When the schedule goes on; null when it was over, so that this attempt is the last. */
  readonly resumesAt: Date | null;
}

const GONE = 410;

/**
 * What follows from an attempt: 2xx is success; 410 ends the event; a refused target is blocked; everything else, 3xx
 * included, is tried again until the schedule is over. An attempt beside the schedule leaves that where it was. `chance`
 * from 0 up to 1.
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
