import { tenantKey, type Tenant } from '@countersign/keys';
import type { ChannelSubscription } from './channel-subscription.js';
import type { RenderedEvent } from './rendered-event.js';

/** Receives the events of an account. */
export type AccountSubscription = Pick<ChannelSubscription, 'deliver'>;

/** The subscriptions to the channels of accounts. A channel carries the events of one mode, that of the subscriber's key. */
export class AccountSubscriptions {
  /** By `tenantKey`. */
  readonly #subscriptions = new Map<string, Set<AccountSubscription>>();

  has(tenant: Tenant): boolean {
    return this.#subscriptions.has(tenantKey(tenant));
  }

  add(tenant: Tenant, subscription: AccountSubscription): void {
    const key = tenantKey(tenant);
    const subscriptions = this.#subscriptions.get(key) ?? new Set();
    this.#subscriptions.set(key, subscriptions.add(subscription));
  }

  remove(tenant: Tenant, subscription: AccountSubscription): void {
    const key = tenantKey(tenant);
    const subscriptions = this.#subscriptions.get(key);
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#subscriptions.delete(key);
  }

  publishToAccount({ tenant, onAccount }: RenderedEvent): void {
    for (const subscription of this.#subscriptions.get(tenantKey(tenant)) ?? []) subscription.deliver(onAccount);
  }
}
