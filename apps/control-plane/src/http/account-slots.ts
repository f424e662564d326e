import { tenantKey, type Tenant } from '@countersign/keys';
import { refuse, type Outcome } from './errors.js';

/** Calls of one account and mode that use the database at a time. */
const MAX_RUNNING = 2;
/** Calls of one account and mode that wait for their turn. */
const MAX_WAITING = 50;
/** Within the time that a request has. A call whose request was answered meanwhile does not run. */
const MAX_WAIT_MS = 2_000;
const RETRY_AFTER_SECONDS = 1;

interface Slots {
  running: number;
  /** Start the waiting calls, the oldest first. */
  readonly waiting: (() => void)[];
}

/**
 * Bounds the calls of a kind that one account and mode runs at a time in this process, and those that all of them run, so that
 * they leave the database and its connections to others.
 */
export class AccountSlots {
  /** Accounts and modes with calls, in the order in which they come to their turn. */
  readonly #byTenant = new Map<string, Slots>();
  readonly #mostRunning: number;
  #running = 0;

  /**
   * @param calls the kind of the calls, in the plural, for the refusal
   * @param mostRunning of all accounts together
   */
  constructor(
    private readonly calls: string,
    { mostRunning = Infinity }: { readonly mostRunning?: number } = {},
  ) {
    this.#mostRunning = mostRunning;
  }

  /** Runs `call` in its turn; refuses it when too many wait. */
  async run<Result>(tenant: Tenant, call: () => Promise<Outcome<Result>>): Promise<Outcome<Result>> {
    const key = tenantKey(tenant);
    const slots = this.#byTenant.get(key) ?? { running: 0, waiting: [] };
    if (slots.waiting.length >= MAX_WAITING) return this.refuseCall();
    this.#byTenant.set(key, slots);
    if (this.#mayRun(slots)) this.#take(slots);
    else if (!(await turnOf(slots))) {
      this.#forget(key, slots);
      return this.refuseCall();
    }
    try {
      return await call();
    } finally {
      slots.running -= 1;
      this.#running -= 1;
      this.#forget(key, slots);
      this.#startNext();
    }
  }

  #mayRun({ running }: Slots): boolean {
    return running < MAX_RUNNING && this.#running < this.#mostRunning;
  }

  #take(slots: Slots): void {
    slots.running += 1;
    this.#running += 1;
  }

  #forget(key: string, { running, waiting }: Slots): void {
    if (running === 0 && waiting.length === 0) this.#byTenant.delete(key);
  }

  /** Starts the oldest call of the account that comes next, which then comes last. */
  #startNext(): void {
    for (const [key, slots] of this.#byTenant) {
      if (slots.waiting.length === 0 || !this.#mayRun(slots)) continue;
      this.#take(slots);
      slots.waiting.shift()?.();
      this.#byTenant.delete(key);
      this.#byTenant.set(key, slots);
      return;
    }
  }

  private refuseCall(): ReturnType<typeof refuse> {
    const message = `Too many ${this.calls} of this account are waiting. Make one after the other.`;
    return refuse('RATE_LIMITED', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** Waits for a slot; false when none is free in time. */
const turnOf = ({ waiting }: Slots): Promise<boolean> =>
  new Promise((resolve) => {
    const start = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(start), 1);
      resolve(false);
    }, MAX_WAIT_MS);
    waiting.push(start);
  });
