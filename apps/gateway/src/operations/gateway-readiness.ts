import { Injectable } from '@nestjs/common';
import { Database, DatabaseClock, readinessOf } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';
import { InboundService, MAX_QUEUED_MESSAGES } from '../inbound/inbound.service.js';
import { ListenerService } from '../listener/listener.service.js';

/** Not ready above this share of the queue limit: beyond the limit MOs get a retryable status. */
const MAX_QUEUE_SHARE = 0.8;

/**
 * Readiness checks: database, clock, the queue of MOs that wait for a transaction, and the SMPP ports. Redis is not
 * checked: it only carries job notifications, and an MO is approved without it (architecture, invariant 1).
 */
@Injectable()
export class GatewayReadiness {
  readonly checks: Readonly<Record<string, Check>>;

  constructor(
    database: Database,
    clock: DatabaseClock,
    private readonly inbound: InboundService,
    private readonly listener: ListenerService,
  ) {
    this.checks = {
      ...readinessOf(database, clock),
      queue: () => this.checkQueue(),
      listener: () => this.checkListener(),
    };
  }

  private checkQueue(): void {
    const { queued } = this.inbound;
    if (queued > MAX_QUEUED_MESSAGES * MAX_QUEUE_SHARE) throw new Error(`${queued} MOs wait for a transaction`);
  }

  private checkListener(): void {
    if (!this.listener.isListening) throw new Error('an SMPP port is not open');
  }
}
