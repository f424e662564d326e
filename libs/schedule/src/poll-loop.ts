export interface PollLoopOptions {
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Answers true when more is waiting, and is then run again at once. */
  readonly work: () => Promise<boolean>;
  /** Hears what `work` throws; the next run comes in its time all the same. */
  readonly onError: (error: unknown) => void;
}

/** Runs a piece of work every so often, never twice at a time, until it is stopped. The first run is one period away. */
export class PollLoop {
  readonly #options: PollLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #triggered = false;

  constructor(options: PollLoopOptions) {
    this.#options = options;
    this.#sleep();
  }

  /** Runs now, or once more after the run that is under way: it may have looked before there was something to see. */
  trigger(): void {
    if (this.#stopped) return;
    this.#triggered = true;
    this.#start();
  }

  /** Starts no more runs and waits for the one under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #sleep(): void {
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
      // Between the last look at it and here, other callbacks of the same turn may have nudged.
      if (this.#triggered) this.#start();
      else this.#sleep();
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
