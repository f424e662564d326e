import type { Uuid } from '@countersign/ids';
import { tenantKey, type Tenant } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
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
  /** Time of its first subscription, in milliseconds by the database's clock. */
  readonly sinceMs: number;
  readonly subscriptions: Set<AccountSubscription>;
}

/**
 * The subscriptions to the channels of accounts. A channel carries the events of one mode, that of the subscriber's key. An event
 * is published once, whether its broadcast or a poll has brought it.
 */
@Injectable()
export class AccountSubscriptions {
  /** By `tenantKey`. */
  readonly #tenants = new Map<string, SubscribedTenant>();
  readonly #published = new LRUCache<Uuid, true>({ max: MAX_PUBLISHED });

  constructor(@Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>) {}

  has(tenant: Tenant): boolean {
    return this.#tenants.has(tenantKey(tenant));
  }

  /** Tenants with subscriptions. */
  tenants(): readonly SubscribedTenant[] {
    return [...this.#tenants.values()];
  }

  isPublished(eventId: Uuid): boolean {
    return this.#published.has(eventId);
  }

  add(tenant: Tenant, subscription: AccountSubscription): void {
    const key = tenantKey(tenant);
    const known = this.#tenants.get(key) ?? { tenant, sinceMs: this.clock.nowMs(), subscriptions: new Set() };
    known.subscriptions.add(subscription);
    this.#tenants.set(key, known);
  }

  remove(tenant: Tenant, subscription: AccountSubscription): void {
    const key = tenantKey(tenant);
    const subscriptions = this.#tenants.get(key)?.subscriptions;
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#tenants.delete(key);
  }

  publishToAccount({ broadcast: { id }, tenant, onAccount }: RenderedEvent): void {
    const subscriptions = this.#tenants.get(tenantKey(tenant))?.subscriptions;
    if (subscriptions === undefined || this.isPublished(id)) return;
    this.#published.set(id, true);
    for (const subscription of subscriptions) subscription.deliver(onAccount);
  }
}
