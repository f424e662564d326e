import { Injectable } from '@nestjs/common';
import { Metrics } from '@countersign/telemetry';

/** Metrics of delivery receipts. */
@Injectable()
export class ReceiptMetrics {
  readonly receipts;
  readonly orphans;

  constructor(metrics: Metrics) {
    this.receipts = metrics.counter({
      name: 'receipts_total',
      help: 'Delivery receipts by fate; parked: no response with its message id is recorded yet; refused: too many of these.',
      labels: ['fate', 'side', 'peer'],
    });
    this.orphans = metrics.counter({
      name: 'receipts_orphaned_total',
      help: 'Delivery receipts without a message id, or not matched to a message in time.',
    });
  }
}
