import { tenantKey, type Tenant } from '@countersign/keys';

/** Resumes at a time in this process, and of one account and mode among them. Each holds some 1 MiB of rendered events. */
const MAX_RUNNING = 32;
const MAX_OF_TENANT = 2;

interface WaitingResume {
  readonly key: string;
  readonly start: () => void;
}

/**
 * Lets few resumes read and render events at a time: many connections come back at once after a lost network. The others
 * wait in their order, each for a place of its account; the number of connections bounds them.
 */
export class ResumeTurns {
  readonly #runningOf = new Map<string, number>();
  readonly #waiting = new Set<WaitingResume>();
  #running = 0;

  /** Settles as `work` does, once its turn has come. */
  async run(tenant: Tenant, work: () => Promise<void>): Promise<void> {
    const key = tenantKey(tenant);
    if (!this.#isFree(key)) {
      await new Promise<void>((start) => this.#waiting.add({ key, start }));
    } else this.#take(key);
    try {
      await work();
    } finally {
      this.#release(key);
    }
  }

  #isFree(key: string): boolean {
    return this.#running < MAX_RUNNING && (this.#runningOf.get(key) ?? 0) < MAX_OF_TENANT;
  }

  #take(key: string): void {
    this.#running += 1;
    this.#runningOf.set(key, (this.#runningOf.get(key) ?? 0) + 1);
  }

  #release(key: string): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(key) ?? 1) - 1;
    if (left === 0) this.#runningOf.delete(key);
    else this.#runningOf.set(key, left);
    for (const next of this.#waiting) {
      if (!this.#isFree(next.key)) continue;
      this.#waiting.delete(next);
      this.#take(next.key);
      next.start();
      return;
    }
  }
}
