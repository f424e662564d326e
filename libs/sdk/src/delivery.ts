import { isObject, isText, isTextOrNull } from './fields.js';

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'blocked';

export interface DeliveryAttempt {
  readonly at: string;
  /** The HTTP status of the receiver's answer; null without an answer. */
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly error?: string;
}

/** One webhook for one receiver. */
export interface Delivery {
  readonly id: string;
  /** The `webhook-id` header of the request. */
  readonly eventId: string;
  readonly type: string;
  readonly sessionId: string | null;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly attempts: readonly DeliveryAttempt[];
  /** Null when no attempt is due. */
  readonly nextAttemptAt: string | null;
  /** The posted body, with `authEntropy` and `fallbackUri` as `[redacted]`. */
  readonly body: unknown;
}

export interface DeliveryQuery {
  readonly status?: DeliveryStatus;
  /** 1 to 100. */
  readonly limit?: number;
  readonly startingAfter?: string;
}

export function isDelivery(value: unknown): value is Delivery {
  if (!isObject(value)) return false;
  const { id, eventId, type, sessionId, url, status, attempts, nextAttemptAt } = value;
  return (
    [id, eventId, type, url].every(isText) &&
    [sessionId, nextAttemptAt].every(isTextOrNull) &&
    STATUSES.has(status) &&
    Array.isArray(attempts) &&
    attempts.every((attempt) => isObject(attempt) && isText(attempt['at']))
  );
}

const STATUSES: ReadonlySet<unknown> = new Set(['pending', 'succeeded', 'failed', 'blocked']);

/** A newly rotated secret. */
export interface RotatedSecret {
  /** `whsec_…` */
  readonly secret: string;
  /** Until then the previous secret signs too. */
  readonly previousValidUntil: string;
}

export function isRotatedSecret(value: unknown): value is RotatedSecret {
  return isObject(value) && isText(value['secret']) && isText(value['previousValidUntil']);
}
