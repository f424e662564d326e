import type { Bind } from '@countersign/carriers/config';
import type { ConnectionEvent } from '@countersign/carriers/status';
import { Injectable } from '@nestjs/common';
import { DatabaseClock } from '@countersign/postgres';
import { MessageRouter } from '../inbound/message.router.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { AcceptedLinkSource, type AcceptedConnection } from './accepted-connection.js';
import { BindDialer } from './bind-dialer.js';
import { BindSupervisor } from './bind-supervisor.js';
import { ConnectionGauge } from './connection-gauge.js';

/** Creates the supervisor of each connection. */
@Injectable()
export class BindSupervisorFactory {
  constructor(
    private readonly dialer: BindDialer,
    private readonly messages: MessageRouter,
    private readonly clock: DatabaseClock,
    private readonly metrics: LinkMetrics,
  ) {}

  /**
   * @param events of the connection before
   * @param accepted the connection that the carrier has opened; null when the gateway opens it
   */
  createSupervisor(
    guard: LeaseGuard,
    bind: Bind,
    events: readonly ConnectionEvent[],
    accepted: AcceptedConnection | null,
  ): BindSupervisor {
    const meter = this.metrics.createMeter('bind', bind.name);
    const gauge = new ConnectionGauge(this.clock, meter, { events, gatewayId: guard.lease.owner });
    const source = accepted === null ? this.dialer : new AcceptedLinkSource(this.dialer, accepted);
    return new BindSupervisor(guard, bind, source, this.messages, gauge);
  }
}
