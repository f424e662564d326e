import type { DispatchSnapshot } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { tenantKey, type Tenant } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ChannelSubscription } from './channel-subscription.js';
import type { RenderedEvent } from './rendered-event.js';

/** Ids of published events that are remembered, the latest. */
const MAX_PUBLISHED = 100_000;

/** Receives the events of an account. */
export type AccountSubscription = Pick<ChannelSubscription, 'deliver'>;

/** A tenant with subscriptions. */
export interface SubscribedTenant {
  readonly tenant: Tenant;
  readonly subscriptions: Set<AccountSubscription>;
  /** The snapshot up to which its events have been published; null until its first one is read. */
  seen: DispatchSnapshot | null;
}

/**
 * The subscriptions to the channels of accounts. A channel carries the events of one mode, that of the subscriber's key. An event
 * is published once, also when it is read again after a failure.
 */
@Injectable()
export class AccountSubscriptions {
  /** By `tenantKey`. */
  readonly #tenants = new Map<string, SubscribedTenant>();
  readonly #published = new LRUCache<Uuid, true>({ max: MAX_PUBLISHED });

  find(tenant: Tenant): SubscribedTenant | undefined {
    return this.#tenants.get(tenantKey(tenant));
  }

  /** Tenants with subscriptions. */
  tenants(): readonly SubscribedTenant[] {
    return [...this.#tenants.values()];
  }

  add(tenant: Tenant, subscription: AccountSubscription): SubscribedTenant {
    const subscribed = this.find(tenant) ?? { tenant, subscriptions: new Set(), seen: null };
    subscribed.subscriptions.add(subscription);
    this.#tenants.set(tenantKey(tenant), subscribed);
    return subscribed;
  }

  remove(tenant: Tenant, subscription: AccountSubscription): void {
    const subscriptions = this.find(tenant)?.subscriptions;
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#tenants.delete(tenantKey(tenant));
  }

  publishToAccount({ broadcast: { id }, tenant, onAccount }: RenderedEvent): void {
    const subscriptions = this.find(tenant)?.subscriptions;
    if (subscriptions === undefined || this.#published.has(id)) return;
    this.#published.set(id, true);
    for (const subscription of subscriptions) subscription.deliver(onAccount);
  }
}
