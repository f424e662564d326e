/** Runs works of one process one at a time, in the order in which they were requested. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  /** Settles as `work` does; a rejection does not keep the next work from running. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}
