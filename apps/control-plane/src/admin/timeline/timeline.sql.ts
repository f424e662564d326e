import type { Uuid } from '@countersign/ids';
import type { AttemptRecord, DeliveryStatus } from '../../webhooks/attempt.js';

/** An event of a session, with its delivery; the fields of the delivery are null without one. */
export interface SessionEventRow {
  readonly id: Uuid;
  readonly type: string;
  readonly occurredAt: Date;
  /** When it was broadcast to WebSocket subscribers; null until then. */
  readonly dispatchedAt: Date | null;
  readonly url: string | null;
  readonly status: DeliveryStatus | null;
  readonly attempts: readonly AttemptRecord[] | null;
  readonly nextAttemptAt: Date | null;
}

/**
 * Events of a session with their deliveries, oldest first. Events have no index on the session: ids contain the time of the
 * write, so bounds around the known moments of the session limit the rows that are read. $1 session, $2 lowest ids and $3
 * first ids beyond, in the same order, without overlaps, $4 maximum rows.
 */
export const READ_SESSION_EVENTS = `
  SELECT event.*, delivery.url, delivery.status, delivery.attempts, delivery.next_attempt_at AS "nextAttemptAt"
  FROM unnest($2::uuid[], $3::uuid[]) AS span (low, beyond)
    CROSS JOIN LATERAL (
      SELECT id, left(type, 64) AS type, occurred_at AS "occurredAt", dispatched_at AS "dispatchedAt" FROM events
      WHERE id >= span.low AND id < span.beyond AND session_id = $1 ORDER BY id LIMIT $4) AS event
    LEFT JOIN deliveries AS delivery ON delivery.id = event.id AND delivery.session_id = $1
  ORDER BY event.id LIMIT $4`;
