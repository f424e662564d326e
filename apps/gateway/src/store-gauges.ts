import type { ConcatenationStore } from '@countersign/carriers/inbound';
import type { OutboundQueue } from '@countersign/carriers/outbound';
import type { Database } from '@countersign/postgres';
import type { Metrics } from '@countersign/telemetry';

/** Two gauges of one scrape are read by one statement. */
const SAME_SCRAPE_MS = 500;

export interface StoreGaugesOptions {
  readonly database: Database;
  readonly queue: Pick<OutboundQueue, 'depth'>;
  readonly concatenations: Pick<ConcatenationStore, 'countWaitingParts'>;
  /** Leases of connections that this gateway holds. */
  readonly leasesHeld: () => number;
}

/** What is read of the stores when the metrics are asked for: the same from every gateway, but for its leases. */
export function watchStores(metrics: Metrics, o: StoreGaugesOptions): void {
  const depth = shared(() => o.queue.depth(o.database));
  metrics.gauge({
    name: 'leases_held',
    help: 'Connections of binds that this gateway holds a lease of.',
    read: () => o.leasesHeld(),
  });
  metrics.gauge({
    name: 'otp_queue_messages',
    help: 'Codes by state, over all gateways; failed ones for as long as they are kept.',
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
    help: 'How long the oldest waiting code has waited, over all gateways; 0 when none waits.',
    read: async () => (await depth()).oldestAgeSeconds ?? 0,
  });
  metrics.gauge({
    name: 'mo_parts_parked',
    help: 'Parts of long MOs that wait for the rest of their message, over all gateways.',
    read: () => o.concatenations.countWaitingParts(o.database),
  });
}

function shared<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly atMs: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs > SAME_SCRAPE_MS) last = { atMs: nowMs, result: read() };
    return last.result;
  };
}
