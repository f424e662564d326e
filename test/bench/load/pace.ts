import { setTimeout as delay } from 'node:timers/promises';
import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { quantile } from '../statistics.js';
import { LoadWindow } from './window.js';

const RAMP_MS = 500;
const MS_PER_SECOND = 1_000;

/**
 * Keeps `inFlight` requests unanswered until the window has been open for the given time; it opens after a ramp. `send`
 * calls back with whether its answer is right.
 */
export async function keepUnderWay(
  inFlight: number,
  seconds: number,
  send: (onAnswer: (well: boolean) => void) => void,
  processes: readonly MeteredProcess[] = [],
): Promise<Measure> {
  const window = new LoadWindow(processes);
  setTimeout(() => window.open(), RAMP_MS);
  setTimeout(() => window.close(), RAMP_MS + seconds * MS_PER_SECOND);
  const one = (done: () => void): void => {
    if (window.isClosed) {
      done();
      return;
    }
    const sentMs = performance.now();
    send((well) => {
      window.answered(performance.now() - sentMs, well);
      one(done);
    });
  };
  await Promise.all(Array.from({ length: inFlight }, () => new Promise<void>((resolve) => one(resolve))));
  return window.measure();
}

/**
 * Calls `send` with 0, 1, 2, … at a constant rate, whether or not earlier requests are answered; resolves when all are
 * sent. `dueMs` (of `performance.now`) is the due time: latencies from it include queueing.
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

/** The latencies and the number of errors of requests at a rate. */
export function measureOf(latenciesMs: readonly number[], errors: number, seconds: number): Measure {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  return {
    perSecond: Math.round(sorted.length / seconds),
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    errors,
  };
}
