/** Seconds over which a rate is averaged. */
const SECONDS = 10;
const MS_PER_SECOND = 1_000;

/** Counts events in each of the last ten seconds; an event costs one addition. */
export class ThroughputMeter {
  readonly #counts = new Array<number>(SECONDS).fill(0);
  #second: number;

  constructor(nowMs: number) {
    this.#second = Math.floor(nowMs / MS_PER_SECOND);
  }

  count(nowMs: number): void {
    const slot = this.advance(nowMs) % SECONDS;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /** Events per second over the last ten seconds, to one decimal. */
  perSecond(nowMs: number): number {
    this.advance(nowMs);
    return this.#counts.reduce((sum, count) => sum + count, 0) / SECONDS;
  }

  private advance(nowMs: number): number {
    const second = Math.floor(nowMs / MS_PER_SECOND);
    const passed = Math.min(SECONDS, second - this.#second);
    for (let n = 0; n < passed; n++) this.#counts[(second - n) % SECONDS] = 0;
    this.#second = Math.max(this.#second, second);
    return second;
  }
}
