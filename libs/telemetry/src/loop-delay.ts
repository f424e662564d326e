import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/** How late the event loop runs its timers: the measure of a process that has too much to do. */
export class LoopDelay {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  #p99Ms = 0;

  /** `windowMs`: how long a stretch one reading is about. */
  constructor(windowMs: number) {
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      this.#p99Ms = Math.max(this.#histogram.percentile(99) / NANOSECONDS_PER_MS - RESOLUTION_MS, 0);
      this.#histogram.reset();
    }, windowMs).unref();
  }

  /** The 99th percentile of the last whole window, in milliseconds beyond the sampling's own; 0 before there was one. */
  get p99Ms(): number {
    return this.#p99Ms;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}
