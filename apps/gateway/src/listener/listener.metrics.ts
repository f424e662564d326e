import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';

/** Metrics of connections that peers open to the gateway. */
@Injectable()
export class ListenerMetrics {
  readonly rejectedConnections;
  readonly sentReceipts;

  constructor(metrics: Metrics) {
    this.rejectedConnections = metrics.counter({
      name: 'smpp_connections_rejected_total',
      help: 'Connections closed before a bind: over a limit, evicted, address in no network of a system, or after failed binds.',
      labels: ['reason'],
    });
    this.sentReceipts = metrics.counter({
      name: 'smpp_requested_receipts_total',
      help: 'Receipts that systems requested for their messages, by outcome; no_link: no connection that receives; queue_full: over 1,000 waiting.',
      labels: ['outcome'],
    });
  }
}
