import type { MeteredProcess } from '../cpu/use.js';
import type { Measure } from '../report.js';
import { ascending, quantile } from '../statistics.js';
import { atRate } from './pace.js';
import { LoadWindow } from './window.js';

/** A constant rate of requests, which does not depend on the answers. */
export interface Pace {
  readonly perSecond: number;
  /** Requests in all, those of the ramp included. */
  readonly count: number;
  /** Number of first requests that are not measured; less than `count`. */
  readonly ramp: number;
}

/** Sends request number `at`, from 0; calls `onAnswer` with whether the answer is right. */
export type Send = (at: number, onAnswer: (well: boolean) => void) => void;

/** Counted from the last request. */
const ANSWER_DEADLINE_MS = 60_000;

/** Counts answers; resolves when all of `count` have arrived. */
class Answers {
  /** By the second in which the requests were due. */
  readonly seconds: number[][] = [];
  errors = 0;
  #arrived = 0;
  #onLast: () => void = () => undefined;

  constructor(private readonly count: number) {}

  /** `second`: in which it was due, from 0; below 0 in the ramp. */
  add(well: boolean, latencyMs: number, second: number): void {
    if (second >= 0) (this.seconds[second] ??= []).push(latencyMs);
    if (!well) this.errors += 1;
    this.#arrived += 1;
    if (this.#arrived === this.count) this.#onLast();
  }

  /** Rejects after the deadline. */
  all(): Promise<void> {
    if (this.#arrived === this.count) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = (): void =>
        reject(new Error(`${this.count - this.#arrived} requests had no answer within ${ANSWER_DEADLINE_MS} ms`));
      const timer = setTimeout(late, ANSWER_DEADLINE_MS);
      this.#onLast = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Open loop: sends every request when it is due, whether or not earlier ones are answered. Latencies run from the due time,
 * so a delay of the server or of this process counts for every request that was due in it; they are of all requests after
 * the ramp, however late the answer. The rate and CPU time are of the answers between the first request after the ramp
 * and the last one, by the clock: a generator or server that falls behind has a lower rate than the pace. `errors` includes
 * the ramp.
 */
export async function openLoop(
  { perSecond, count, ramp }: Pace,
  send: Send,
  processes: readonly MeteredProcess[] = [],
): Promise<Measure> {
  const window = new LoadWindow(processes);
  const answers = new Answers(count);
  const delaysMs: number[] = [];
  await atRate(perSecond, count, (at, dueMs) => {
    if (at === ramp) window.open();
    if (at >= ramp) delaysMs.push(performance.now() - dueMs);
    send(at, (well) => {
      const latencyMs = performance.now() - dueMs;
      window.answered(latencyMs, well);
      answers.add(well, latencyMs, Math.floor((at - ramp) / perSecond));
    });
  });
  window.close();
  await answers.all();
  const { errors, seconds } = answers;
  const latenciesMs = ascending(seconds.flat());
  return {
    ...(await window.measure()),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    errors,
    pace: {
      perSecond,
      sendDelayP99Ms: quantile(ascending(delaysMs), 0.99),
      worstSecondP99Ms: Math.max(0, ...seconds.map((each) => quantile(ascending(each), 0.99))),
    },
  };
}
