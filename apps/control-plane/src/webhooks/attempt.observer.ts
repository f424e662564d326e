import { modeOf } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import type { Verdict } from './attempt.js';
import type { ClaimedDelivery } from './delivery.store.js';
import { FailingEndpointMonitor } from './failing-endpoint.monitor.js';

/** Reports recorded attempts to the metrics and to the monitor of failing endpoints. */
@Injectable()
export class AttemptObserver {
  constructor(
    private readonly metrics: ControlPlaneMetrics,
    private readonly failingEndpoints: FailingEndpointMonitor,
  ) {}

  onAttempt(delivery: ClaimedDelivery, verdict: Verdict): void {
    const mode = modeOf(delivery.test);
    this.metrics.deliveryAttempts.inc({ outcome: verdict.status, mode });
    this.metrics.deliverySeconds.observe({ mode }, verdict.attempt.latencyMs / 1000);
    this.failingEndpoints.noteAttempt(delivery, verdict);
  }
}
