import { readinessOf, type Database, type DatabaseClock } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';
import { MAX_QUEUED_MESSAGES, type InboundService } from './inbound/inbound.service.js';
import type { ListenerService } from './listener/listener.service.js';

/** Not ready above this share of the queue limit: beyond the limit MOs get a retryable status. */
const MAX_QUEUE_SHARE = 0.8;

export interface ReadinessParts {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly inbound: InboundService;
  readonly listener: ListenerService;
}

/**
 * Readiness checks: database, clock, the queue of MOs that wait for a transaction, and the SMPP ports. Redis is not
 * checked: it only carries job notifications, and an MO is approved without it (architecture, invariant 1).
 */
export function readinessChecks({ database, clock, inbound, listener }: ReadinessParts): Record<string, Check> {
  return {
    ...readinessOf(database, clock),
    queue: () => {
      if (inbound.queued > MAX_QUEUED_MESSAGES * MAX_QUEUE_SHARE)
        throw new Error(`${inbound.queued} MOs wait for a transaction`);
    },
    listener: () => {
      if (!listener.isListening) throw new Error('an SMPP port is not open');
    },
  };
}
