import type { ConcatenationStore } from '@countersign/carriers/inbound';
import type { OutboundQueue } from '@countersign/carriers/outbound';
import type { Database } from '@countersign/postgres';
import type { Metrics } from '@countersign/telemetry';

/** Gauges read within this time share one statement. */
const SAME_SCRAPE_MS = 500;

export interface StoreGaugesOptions {
  readonly database: Database;
  readonly queue: Pick<OutboundQueue, 'depth'>;
  readonly concatenations: Pick<ConcatenationStore, 'countWaitingParts'>;
  /** Number of connection leases that this gateway holds. */
  readonly leasesHeld: () => number;
}

/** Registers gauges read from PostgreSQL at each scrape; all but `leases_held` are the same on every gateway. */
export function registerStoreGauges(metrics: Metrics, o: StoreGaugesOptions): void {
  const depth = readOncePerScrape(() => o.queue.depth(o.database));
  metrics.gauge({
    name: 'leases_held',
    help: 'Leases on bind connections held by this gateway.',
    read: () => o.leasesHeld(),
  });
  metrics.gauge({
    name: 'otp_queue_messages',
    help: 'Codes by state, over all gateways; failed codes until they are deleted.',
    labels: ['state'],
    readAll: async () => {
      const { waiting, inFlight, failed } = await depth();
      return Object.entries({ waiting, in_flight: inFlight, failed }).map(([state, value]) => {
        return { labels: { state }, value };
      });
    },
  });
  metrics.gauge({
    name: 'otp_queue_oldest_seconds',
    help: 'Age of the oldest waiting code, over all gateways; 0 when none waits.',
    read: async () => (await depth()).oldestAgeSeconds ?? 0,
  });
  metrics.gauge({
    name: 'mo_parts_parked',
    help: 'Parts of incomplete long MOs, over all gateways.',
    read: () => o.concatenations.countWaitingParts(o.database),
  });
}

function readOncePerScrape<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly atMs: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs > SAME_SCRAPE_MS) last = { atMs: nowMs, result: read() };
    return last.result;
  };
}
