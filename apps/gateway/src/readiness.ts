import { readinessOf, type Database, type DatabaseClock } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';
import { MAX_QUEUED_MESSAGES, type InboundService } from './inbound/inbound.service.js';
import type { ListenerService } from './listener/listener.service.js';

/** With more than this waiting, what comes next would be sent back. */
const MAX_QUEUE_SHARE = 0.8;

export interface ReadinessParts {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly inbound: InboundService;
  readonly listener: ListenerService;
}

/**
 * What must hold for carriers to be sent here. Redis is not among it: it only rings, and an MO is approved without it
 * (architecture, invariant 1). The queue is that of MOs which wait for a transaction.
 */
export function readinessChecks({ database, clock, inbound, listener }: ReadinessParts): Record<string, Check> {
  return {
    ...readinessOf(database, clock),
    queue: () => {
      if (inbound.queued > MAX_QUEUED_MESSAGES * MAX_QUEUE_SHARE) throw new Error(`${inbound.queued} MOs are waiting`);
    },
    listener: () => {
      if (!listener.isListening) throw new Error('not every SMPP port is listened on');
    },
  };
}
