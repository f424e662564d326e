import { ReportedMessageStore } from '@countersign/carriers/outbound';
import { ParkedReceiptsGauge } from './parked-receipts.gauge.js';
import { ReceiptBatch } from './receipt-batch.js';
import { ReceiptMetrics } from './receipt.metrics.js';
import { ReceiptsService } from './receipts.service.js';

/** Delivery receipts of codes. */
export const receiptsProviders = [
  ReportedMessageStore,
  ReceiptMetrics,
  ParkedReceiptsGauge,
  ReceiptBatch,
  ReceiptsService,
];
