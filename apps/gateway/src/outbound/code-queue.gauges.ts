import { Injectable } from '@nestjs/common';
import { OutboundQueue } from '@countersign/carriers/outbound';
import { Database } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';

/** Gauges read within this time share one statement. */
const SAME_SCRAPE_MS = 500;

/** Gauges of the queue of codes, read from PostgreSQL at each scrape; the same on every gateway. */
@Injectable()
export class CodeQueueGauges {
  constructor(metrics: Metrics, database: Database, queue: OutboundQueue) {
    const depth = readOncePerScrape(() => queue.depth(database));
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
  }
}

function readOncePerScrape<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let last: { readonly atMs: number; readonly result: Promise<Result> } | null = null;
  return () => {
    const nowMs = performance.now();
    if (last === null || nowMs - last.atMs > SAME_SCRAPE_MS) last = { atMs: nowMs, result: read() };
    return last.result;
  };
}
