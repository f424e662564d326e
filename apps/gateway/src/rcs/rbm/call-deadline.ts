export interface CallLimits {
  readonly timeoutMs: number;
  /** Ends the deadline early, as `stopped`. */
  readonly signal?: AbortSignal | undefined;
}

/** The deadline of one operation of one or more calls. It ends by its timeout or by the caller's signal. */
export class CallDeadline {
  /** Why the deadline has ended; null before. */
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

  /** The result of the work, or null when the deadline ends first. The work is not cancelled. */
  async wait<Result>(work: Promise<Result>): Promise<Result | null> {
    const { signal } = this;
    if (signal.aborted) return null;
    let resolveEnded = (): void => undefined;
    const ended = new Promise<null>((resolve) => (resolveEnded = () => resolve(null)));
    signal.addEventListener('abort', resolveEnded, { once: true });
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener('abort', resolveEnded);
    }
  }

  /** Clears the timer and the listener. Must be called when the operation is over. */
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
