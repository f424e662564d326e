import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';

/** Metrics of the leases on bind connections. */
@Injectable()
export class LeaseMetrics {
  readonly renewals;
  readonly lost;

  constructor(private readonly metrics: Metrics) {
    this.renewals = metrics.counter({
      name: 'lease_renewals_total',
      help: 'Renewals of all bind connection leases of the gateway, by outcome.',
      labels: ['outcome'],
    });
    this.lost = metrics.counter({
      name: 'leases_lost_total',
      help: 'Leases lost, their connections closed at once: not renewed in time, or taken by another gateway.',
      labels: ['reason'],
    });
  }

  /** Registers the gauge of held leases; `read` is called at each scrape. */
  registerHeld(read: () => number): void {
    this.metrics.gauge({ name: 'leases_held', help: 'Leases on bind connections held by this gateway.', read });
  }
}
