import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';

/** Metrics of attempts to submit codes. */
@Injectable()
export class OutboundMetrics {
  readonly attempts;

  constructor(metrics: Metrics) {
    this.attempts = metrics.counter({
      name: 'otp_attempts_total',
      help: 'Attempts to submit a code, by outcome, and codes that failed for good (failed).',
      labels: ['outcome'],
    });
  }
}
