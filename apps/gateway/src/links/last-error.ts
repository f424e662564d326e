/** An error with its time as RFC 3339. */
export interface TimedError {
  readonly error: string;
  readonly at: string;
}

/** Adds the time to the errors of a link: that of the first status that shows an error, at most 5 s after it. */
export class LastError {
  #last: TimedError | null = null;

  constructor(private readonly now: () => string) {}

  /** The same error again has the time of its first occurrence. */
  seen(error: string | null): TimedError | null {
    if (error === null) this.#last = null;
    else if (this.#last?.error !== error) this.#last = { error, at: this.now() };
    return this.#last;
  }
}
