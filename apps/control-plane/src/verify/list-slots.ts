import { tenantKey, type Tenant } from '@countersign/keys';
import { refuse, type Outcome } from '../http/errors.js';

/** Lists of one account and mode that read the database at a time: a filter that few sessions match reads many rows. */
const MAX_RUNNING = 2;
/** Lists of one account and mode that wait for their turn. */
const MAX_WAITING = 50;
const RETRY_AFTER_SECONDS = 1;

interface Slots {
  running: number;
  /** Start the waiting lists, the oldest first. */
  readonly waiting: (() => void)[];
}

/** Bounds the lists that one account and mode runs at a time in this process, so that it leaves the database to others. */
export class ListSlots {
  readonly #byTenant = new Map<string, Slots>();

  /** Runs `list` in its turn; refuses it when too many wait. */
  async run<Page>(tenant: Tenant, list: () => Promise<Outcome<Page>>): Promise<Outcome<Page>> {
    const key = tenantKey(tenant);
    const slots = this.#byTenant.get(key) ?? { running: 0, waiting: [] };
    if (slots.waiting.length >= MAX_WAITING) {
      const message = 'Too many lists of this account are waiting. Request one page after the other.';
      return refuse('RATE_LIMITED', { message, retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#byTenant.set(key, slots);
    if (slots.running >= MAX_RUNNING) await new Promise<void>((resolve) => slots.waiting.push(resolve));
    else slots.running += 1;
    try {
      return await list();
    } finally {
      // A waiting list takes over the slot.
      const next = slots.waiting.shift();
      if (next !== undefined) next();
      else slots.running -= 1;
      if (slots.running === 0) this.#byTenant.delete(key);
    }
  }
}
