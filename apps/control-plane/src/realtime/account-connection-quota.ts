import { tenantKey, type Tenant } from '@countersign/keys';

/** Counts open items by account and mode. */
class TenantCounts {
  /** By `tenantKey`. */
  readonly #byTenant = new Map<string, number>();

  of(tenant: Tenant): number {
    return this.#byTenant.get(tenantKey(tenant)) ?? 0;
  }

  add(tenant: Tenant): void {
    this.#byTenant.set(tenantKey(tenant), this.of(tenant) + 1);
  }

  /** Call once for each `add`. */
  remove(tenant: Tenant): void {
    const left = this.of(tenant) - 1;
    if (left <= 0) this.#byTenant.delete(tenantKey(tenant));
    else this.#byTenant.set(tenantKey(tenant), left);
  }
}

/** Share of the connections that is reserved for tenants with few connections. */
const RESERVED_SHARE = 1 / 5;
/** A tenant has few connections while its share of all is below this. */
const SMALL_TENANT_SHARE = 1 / 15;

/**
 * Connection limit of one process. A tenant may use any number while many are free, but never the reserved ones, so a
 * client that leaks connections blocks neither other accounts nor, with a test key, the live keys of its account.
 */
export class AccountConnectionQuota {
  readonly #reserved: number;
  readonly #smallTenant: number;
  readonly #open = new TenantCounts();

  /** `most` connections in all. */
  constructor(private readonly most: number) {
    this.#reserved = Math.floor(most * RESERVED_SHARE);
    this.#smallTenant = Math.ceil(most * SMALL_TENANT_SHARE);
  }

  /** Whether one more connection fits when `open` are open. */
  hasCapacity(open: number): boolean {
    return open < this.most;
  }

  /** Whether this tenant may have one more connection when `open` are open. */
  allows(tenant: Tenant, open: number): boolean {
    return open < this.most - this.#reserved || this.#open.of(tenant) < this.#smallTenant;
  }

  add(tenant: Tenant): void {
    this.#open.add(tenant);
  }

  /** Call once for each `add`. */
  remove(tenant: Tenant): void {
    this.#open.remove(tenant);
  }
}

/**
 * Subscription limit of keys in one process, per account and mode over all their connections. A ticket has one channel,
 * so the connection limit bounds its subscriptions too.
 */
export class SubscriptionQuota {
  readonly #open = new TenantCounts();

  /** `most` subscriptions of one account and mode. */
  constructor(private readonly most: number) {}

  allows(tenant: Tenant): boolean {
    return this.#open.of(tenant) < this.most;
  }

  add(tenant: Tenant): void {
    this.#open.add(tenant);
  }

  /** Call once for each `add`. */
  remove(tenant: Tenant): void {
    this.#open.remove(tenant);
  }
}
