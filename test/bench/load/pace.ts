import { setTimeout as delay } from 'node:timers/promises';
import type { Measure } from '../report.js';

const WARM_UP_MS = 500;
/** As many latencies are enough for a p99, and no more are kept. */
const MAX_LATENCIES = 200_000;

export const quantile = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100;

/**
 * Keeps `window` requests under way for the time given, after a warm-up that does not count. `send` calls back when its
 * request is answered, and says whether it was answered well.
 */
export async function keepUnderWay(
  window: number,
  seconds: number,
  send: (onAnswer: (well: boolean) => void) => void,
): Promise<Measure> {
  const [begunMs, latenciesMs] = [performance.now(), new Array<number>()];
  const fromMs = begunMs + WARM_UP_MS;
  const untilMs = fromMs + seconds * 1_000;
  let [answered, errors] = [0, 0];
  const one = (done: () => void): void => {
    const sentMs = performance.now();
    if (sentMs >= untilMs) {
      done();
      return;
    }
    send((well) => {
      const nowMs = performance.now();
      if (nowMs >= fromMs && nowMs < untilMs) {
        answered += 1;
        if (!well) errors += 1;
        if (latenciesMs.length < MAX_LATENCIES) latenciesMs.push(nowMs - sentMs);
      }
      one(done);
    });
  };
  await Promise.all(Array.from({ length: window }, () => new Promise<void>((resolve) => one(resolve))));
  const sorted = latenciesMs.sort((a, b) => a - b);
  return {
    perSecond: Math.round(answered / seconds),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    errors,
  };
}

const MS_PER_SECOND = 1_000;

/**
 * Calls `send` with 0, 1, 2, … at a steady rate, whether or not earlier ones were answered, and resolves when all are
 * sent. `dueMs` (of `performance.now`) is when it should have gone out: whoever counts from it hides no queue.
 */
export async function atRate(
  perSecond: number,
  count: number,
  send: (at: number, dueMs: number) => void,
): Promise<void> {
  const begunMs = performance.now();
  let sent = 0;
  const dueMs = (): number => begunMs + (sent * MS_PER_SECOND) / perSecond;
  while (sent < count) {
    await delay(Math.max(0, Math.ceil(dueMs() - performance.now())));
    while (sent < count && dueMs() <= performance.now()) {
      send(sent, dueMs());
      sent += 1;
    }
  }
}

/** What requests at a rate saw: their latencies, and how many went wrong. */
export function measureOf(latenciesMs: readonly number[], errors: number, seconds: number): Measure {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  return {
    perSecond: Math.round(sorted.length / seconds),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    errors,
  };
}
