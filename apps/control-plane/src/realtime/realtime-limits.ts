import { tenantKey, type Tenant } from '@countersign/keys';
import { UnauthenticatedConnections } from '../http/unauthenticated-connections.js';
import { AccountConnectionQuota, SubscriptionQuota } from './account-connection-quota.js';
import { BufferedOctets, type BufferingConnection } from './buffered-octets.js';
import { MAX_CHANNELS, type Listener } from './connection-rules.js';

/**
 * Subscription limit of the keys of one account and mode: the connection limit of the process, and at least the
 * channels of two full connections.
 */
const subscriptionsOf = (maxConnections: number): number => Math.max(maxConnections, 2 * MAX_CHANNELS);

/** Limits of connections that have not sent their ticket; one more evicts an older one. */
const UNAUTHENTICATED = { connections: 2_000, connectionsOfNetwork: 100 };

/** A connection that can be closed because of a limit. */
interface LimitedConnection extends BufferingConnection {
  evict(): void;
}

/** The limits of the WebSockets of one process: connections, subscriptions and buffered octets. */
export class RealtimeLimits {
  readonly #unauthenticated = new UnauthenticatedConnections<LimitedConnection>(UNAUTHENTICATED);
  #open = 0;

  constructor(
    private readonly connections: AccountConnectionQuota,
    /** Counts the channels of connections with a key. */
    readonly subscriptions: SubscriptionQuota,
    private readonly buffered: BufferedOctets,
  ) {}

  static ofProcess({ realtimeConnections: most }: { readonly realtimeConnections: number }): RealtimeLimits {
    const subscriptions = new SubscriptionQuota(subscriptionsOf(most));
    return new RealtimeLimits(new AccountConnectionQuota(most), subscriptions, new BufferedOctets());
  }

  /** Whether one more connection fits. At the limit one that has not authenticated is closed for it, if there is one. */
  makeCapacity(): boolean {
    if (this.connections.hasCapacity(this.#open)) return true;
    const evicted = this.#unauthenticated.evict();
    evicted?.evict();
    return evicted !== null;
  }

  /** Whether this tenant may have one more connection. */
  allows(tenant: Tenant): boolean {
    return this.connections.allows(tenant, this.#open);
  }

  /** Counts a connection. One without authentication may evict another. */
  add(connection: LimitedConnection, listener: Listener, clientAddress: string): void {
    this.#open += 1;
    if (listener.kind === 'key') this.connections.add(listener.tenant);
    if (listener.kind === 'nobody') this.#unauthenticated.add(clientAddress, connection)?.evict();
  }

  /** Call once for each `add`, with the listener at the end. */
  remove(listener: Listener): void {
    this.#open -= 1;
    if (listener.kind === 'key' || listener.kind === 'ticket') this.connections.remove(listener.tenant);
  }

  /** Call when a connection without authentication has authenticated or closed. */
  endUnauthenticated(connection: LimitedConnection): void {
    this.#unauthenticated.remove(connection);
  }

  /**
   * Counts an open connection for the tenant of its ticket, which is not known at the upgrade. False when the tenant has too
   * many.
   */
  reserveConnection(tenant: Tenant): boolean {
    // The open connections include this one.
    if (!this.connections.allows(tenant, this.#open - 1)) return false;
    this.connections.add(tenant);
    return true;
  }

  /** From now on the client of the connection has not read so many octets. */
  setBuffered(connection: LimitedConnection, listener: Listener, octets: number): void {
    this.buffered.set(connection, shareOf(listener), octets);
  }
}

/** Whose share of the buffered octets a connection uses. */
const shareOf = (listener: Listener): string =>
  listener.kind === 'key' || listener.kind === 'ticket' ? tenantKey(listener.tenant) : listener.kind;
