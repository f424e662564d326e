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
 * Bounds the calls of a kind that one account and mode runs at a time in this process, so that it leaves the database and its
 * connections to others.
 */
export class AccountSlots {
  readonly #byTenant = new Map<string, Slots>();

  /** @param calls the kind of the calls, in the plural, for the refusal */
  constructor(private readonly calls: string) {}

  /** Runs `call` in its turn; refuses it when too many wait. */
  async run<Result>(tenant: Tenant, call: () => Promise<Outcome<Result>>): Promise<Outcome<Result>> {
    const key = tenantKey(tenant);
    const slots = this.#byTenant.get(key) ?? { running: 0, waiting: [] };
    if (slots.waiting.length >= MAX_WAITING) return this.refuseCall();
    this.#byTenant.set(key, slots);
    if (slots.running < MAX_RUNNING) slots.running += 1;
    else if (!(await turnOf(slots))) return this.refuseCall();
    try {
      return await call();
    } finally {
      // A waiting call takes over the slot.
      const next = slots.waiting.shift();
      if (next !== undefined) next();
      else slots.running -= 1;
      if (slots.running === 0) this.#byTenant.delete(key);
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
