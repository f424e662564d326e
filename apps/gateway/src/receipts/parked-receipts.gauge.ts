import { Injectable } from '@nestjs/common';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { Database } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';

/** The gauge of receipts that match no message yet, read from PostgreSQL at each scrape. */
@Injectable()
export class ParkedReceiptsGauge {
  constructor(metrics: Metrics, database: Database, mtMessages: MtMessageStore) {
    metrics.gauge({
      name: 'receipts_parked',
      help: 'Delivery receipts without a recorded response, over all gateways.',
      read: () => mtMessages.countParkedReceipts(database),
    });
  }
}
