import { tenantKey, type Tenant } from '@countersign/keys';

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
  /** By `tenantKey`. */
  readonly #byTenant = new Map<string, number>();

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
    return open < this.most - this.#last || (this.#byTenant.get(tenantKey(tenant)) ?? 0) < this.#few;
  }

  enter(tenant: Tenant): void {
    const key = tenantKey(tenant);
    this.#byTenant.set(key, (this.#byTenant.get(key) ?? 0) + 1);
  }

  /** Once for each that entered. */
  leave(tenant: Tenant): void {
    const key = tenantKey(tenant);
    const left = (this.#byTenant.get(key) ?? 1) - 1;
    if (left === 0) this.#byTenant.delete(key);
    else this.#byTenant.set(key, left);
  }
}
