import { tenantKey, type Tenant } from '@countersign/keys';
import { TimedSlots } from '@countersign/resilience';
import { refuse, type Outcome } from './errors.js';

/**
 * Calls of one account and mode: those that use the database at a time, and those that wait for their turn, within the time that a
 * request has. A call whose request was answered meanwhile does not run.
 */
const LIMITS = { slots: 2, maxWaiting: 50, maxWaitMs: 2_000 };
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the calls of a kind that one account and mode runs at a time in this process, so that it leaves the database and its
 * connections to others.
 */
export class AccountSlots {
  readonly #byTenant = new Map<string, TimedSlots>();

  /** @param calls the kind of the calls, in the plural, for the refusal */
  constructor(private readonly calls: string) {}

  /** Runs `call` in its turn; refuses it when too many wait. */
  async run<Result>(tenant: Tenant, call: () => Promise<Outcome<Result>>): Promise<Outcome<Result>> {
    const key = tenantKey(tenant);
    const slots = this.#byTenant.get(key) ?? new TimedSlots(LIMITS);
    this.#byTenant.set(key, slots);
    try {
      return await slots.run(call, () => this.refuseCall());
    } finally {
      if (slots.isIdle) this.#byTenant.delete(key);
    }
  }

  private refuseCall(): ReturnType<typeof refuse> {
    const message = `Too many ${this.calls} of this account are waiting. Make one after the other.`;
    return refuse('RATE_LIMITED', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
