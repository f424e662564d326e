import { Database, DatabaseClock } from '@countersign/postgres';
import { partitionDaysAhead } from '@countersign/postgres/partitions';
import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from './control-plane.metrics.js';
import { OLDEST_SNAPSHOT } from './database.gauges.sql.js';

/** Gauges of what slows PostgreSQL down or stops it, read at each scrape. */
@Injectable()
export class DatabaseGauges {
  constructor(metrics: ControlPlaneMetrics, database: Database, clock: DatabaseClock) {
    metrics.watch('database_connections', 'Database connections of this process.', () => database.poolUse.total);
    metrics.watch(
      'database_pool_waiting',
      'Requests of this process that wait for a database connection.',
      () => database.poolUse.waiting,
    );
    metrics.watch(
      'database_oldest_snapshot_seconds',
      'Age of the oldest transaction whose snapshot keeps finished rows, of those that the role of this process may see.',
      async () => {
        const [row] = await database.query<{ seconds: number }>(OLDEST_SNAPSHOT);
        return row?.seconds ?? 0;
      },
    );
    metrics.watch('partition_days_ahead', 'Days after today for which every table has its partition.', () =>
      partitionDaysAhead(database, clock.nowMs()),
    );
  }
}
