import type { Provider } from '@nestjs/common';
import { ReportedMessageStore } from '@countersign/carriers/outbound';
import { provide } from '@countersign/composition';
import { ParkedReceiptsGauge } from './parked-receipts.gauge.js';
import { ReceiptBatch } from './receipt-batch.js';
import { ReceiptMetrics } from './receipt.metrics.js';
import { ReceiptsService } from './receipts.service.js';

/** Delivery receipts of codes. */
export const receiptsProviders: Provider[] = [
  provide(ReportedMessageStore, [], () => new ReportedMessageStore()),
  ReceiptMetrics,
  ParkedReceiptsGauge,
  ReceiptBatch,
  ReceiptsService,
];
