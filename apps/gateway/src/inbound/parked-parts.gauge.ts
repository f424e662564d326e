import { Injectable } from '@nestjs/common';
import { ConcatenationStore } from '@countersign/carriers/inbound';
import { Database } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';

/** The gauge of parts of incomplete long MOs, read from PostgreSQL at each scrape. */
@Injectable()
export class ParkedPartsGauge {
  constructor(metrics: Metrics, database: Database, concatenations: ConcatenationStore) {
    metrics.gauge({
      name: 'mo_parts_parked',
      help: 'Parts of incomplete long MOs, over all gateways.',
      read: () => concatenations.countWaitingParts(database),
    });
  }
}
