import { tenantKey, type Tenant } from '@countersign/keys';

/** Counts what is open, for each account and mode by itself. */
class TenantCounts {
  /** By `tenantKey`. */
  readonly #byTenant = new Map<string, number>();

  of(tenant: Tenant): number {
    return this.#byTenant.get(tenantKey(tenant)) ?? 0;
  }

  add(tenant: Tenant): void {
    this.#byTenant.set(tenantKey(tenant), this.of(tenant) + 1);
  }

  /** Once for each that was added. */
  remove(tenant: Tenant): void {
    const left = this.of(tenant) - 1;
    if (left <= 0) this.#byTenant.delete(tenantKey(tenant));
    else this.#byTenant.set(tenantKey(tenant), left);
  }
}

/** Of all places the last ones, as a share, … */
const LAST = 1 / 5;
/** … are for tenants that have few connections: less than this share of all. */
const FEW = 1 / 15;

/**
 * The connections that one process has room for. A tenant may take as many as it likes while there are plenty; it never
 * takes the last ones, so that one client that leaks connections does not keep the other accounts out, nor a test key the
 * live ones of its own account.
 */
export class AccountConnectionQuota {
  readonly #last: number;
  readonly #few: number;
  readonly #open = new TenantCounts();

  /** `most` connections in all. */
  constructor(private readonly most: number) {
    this.#last = Math.floor(most * LAST);
    this.#few = Math.ceil(most * FEW);
  }

  /** Whether there is room for one more while `open` are open. */
  roomBeside(open: number): boolean {
    return open < this.most;
  }

  /** Whether this tenant may have one more while `open` are open. */
  roomFor(tenant: Tenant, open: number): boolean {
    return open < this.most - this.#last || this.#open.of(tenant) < this.#few;
  }

  enter(tenant: Tenant): void {
    this.#open.add(tenant);
  }

  /** Once for each that entered. */
  leave(tenant: Tenant): void {
    this.#open.remove(tenant);
  }
}

/**
 * The subscriptions of keys that one process has room for: so many for each account and mode, over all their connections.
 * A ticket has one channel, so the bound of connections bounds its subscriptions too.
 */
export class SubscriptionPlaces {
  readonly #open = new TenantCounts();

  /** `most` subscriptions of one account and mode. */
  constructor(private readonly most: number) {}

  roomFor(tenant: Tenant): boolean {
    return this.#open.of(tenant) < this.most;
  }

  enter(tenant: Tenant): void {
    this.#open.add(tenant);
  }

  /** Once for each that entered. */
  leave(tenant: Tenant): void {
    this.#open.remove(tenant);
  }
}
