import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';

/** Metrics of connections that peers open to the gateway. */
@Injectable()
export class ListenerMetrics {
  readonly rejectedConnections;

  constructor(metrics: Metrics) {
    this.rejectedConnections = metrics.counter({
      name: 'smpp_connections_rejected_total',
      help: 'Connections closed before a bind: over a limit, evicted, address in no network of a system, or after failed binds.',
      labels: ['reason'],
    });
  }
}
