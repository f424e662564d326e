export interface SlotLimits {
  /** Maximum number of slots that are taken at a time. */
  readonly slots: number;
  /** Maximum number of callers that wait for a slot. */
  readonly maxWaiting: number;
  /** Maximum time that a caller waits, in milliseconds. */
  readonly maxWaitMs: number;
}

/** A number of slots, of which each is taken for the time of a piece of work. Waiting callers get the slots in their order. */
export class TimedSlots {
  #taken = 0;
  /** Give a slot to the waiting callers, the oldest first. */
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly limits: SlotLimits) {}

  /** Runs `work` with a slot; `onFull` instead when too many wait for one, or none was released in time. */
  async run<Result>(work: () => Promise<Result>, onFull: () => Result): Promise<Result> {
    if (!this.tryTake() && !(await this.wait())) return onFull();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Whether no slot is taken. */
  get isIdle(): boolean {
    return this.#taken === 0;
  }

  /** Takes a slot if one is free. `release` it in every case. */
  tryTake(): boolean {
    if (this.#taken >= this.limits.slots) return false;
    this.#taken += 1;
    return true;
  }

  /** Waits for a slot and takes it; false when too many wait, or when none was released in time. */
  wait(): Promise<boolean> {
    if (this.#waiting.length >= this.limits.maxWaiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        resolve(false);
      }, this.limits.maxWaitMs);
      this.#waiting.push(take);
    });
  }

  /** The caller who has waited longest takes over the slot. */
  release(): void {
    const take = this.#waiting.shift();
    if (take === undefined) this.#taken -= 1;
    else take();
  }
}
