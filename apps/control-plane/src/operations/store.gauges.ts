import { Limiter } from '@countersign/bus';
import { EventStore } from '@countersign/events';
import { Database, DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from './control-plane.metrics.js';

/** Gauges of the stores, read at each scrape. */
@Injectable()
export class StoreGauges {
  constructor(
    metrics: ControlPlaneMetrics,
    database: Database,
    clock: DatabaseClock,
    events: EventStore,
    limiter: Limiter,
  ) {
    metrics.watch(
      'limiter_away',
      '1 while this process counts quotas alone, because the shared limiter is unreachable.',
      () => Number(limiter.away),
    );
    metrics.watch('clock_drift_seconds', 'Wall clock minus database clock.', () => clock.driftMs / 1000);
    metrics.watch('events_oldest_undispatched_seconds', 'Age of the oldest undispatched event.', () =>
      events.oldestUndispatchedSeconds(database),
    );
  }
}
