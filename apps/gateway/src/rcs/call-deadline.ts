export interface CallLimits {
  readonly timeoutMs: number;
  /** Gives up sooner. */
  readonly signal?: AbortSignal | undefined;
}

/** The time of one piece of work, which may be several calls; it ends with the signal of its caller, too, and says which. */
export class CallDeadline {
  reached: 'timeout' | 'stopped' | null = null;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor({ timeoutMs, signal }: CallLimits) {
    this.#outer = signal;
    this.#timer = setTimeout(() => this.#end('timeout'), timeoutMs);
    if (signal?.aborted === true) this.#end('stopped');
    else signal?.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the work gives, or null when the time is up first. The work goes on. */
  async wait<Result>(work: Promise<Result>): Promise<Result | null> {
    const { signal } = this;
    if (signal.aborted) return null;
    let giveUp = (): void => undefined;
    const ended = new Promise<null>((resolve) => (giveUp = () => resolve(null)));
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** To be called when the work is over. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#stop);
  }

  readonly #stop = (): void => this.#end('stopped');

  #end(because: 'timeout' | 'stopped'): void {
    this.reached ??= because;
    this.#controller.abort();
  }
}
