export interface PollLoopOptions {
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Resolves to true when more work is pending; it is then run again at once. */
  readonly work: () => Promise<boolean>;
  /** Called with errors of `work`; the next run follows after the usual interval. */
  readonly onError: (error: unknown) => void;
}

/** Runs work periodically, never concurrently, until stopped. The first run is one period after the start. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #triggered = false;

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Runs now, or once more after the current run, which may have read before the change. */
  trigger(): void {
    if (this.#stopped) return;
    this.#triggered = true;
    this.#start();
  }

  /** Starts no more runs and waits for the current one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#start();
    }, this.#options.everyMs);
    this.#timer.unref();
  }

  #start(): void {
    if (this.#running !== undefined || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // Other callbacks of the same turn may have triggered after the last check.
      if (this.#triggered) this.#start();
      else this.#schedule();
    });
  }

  async #run(): Promise<void> {
    let more = true;
    while (more && !this.#stopped) {
      this.#triggered = false;
      more = (await this.#once()) || this.#triggeredMeanwhile();
    }
  }

  #triggeredMeanwhile(): boolean {
    return this.#triggered;
  }

  async #once(): Promise<boolean> {
    try {
      return await this.#options.work();
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }
}
