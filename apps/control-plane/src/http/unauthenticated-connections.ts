import { networkOf } from '../targets/address-ranges.js';

export interface UnauthenticatedLimits {
  readonly connections: number;
  /** Per client network: an IPv4 address, or a /64 of IPv6. */
  readonly connectionsOfNetwork: number;
}

/**
 * Connections that have not authenticated yet. A connection over a limit evicts another: over the limit of a network
 * the oldest of that network, over the total limit the oldest of the network that has the most. A browser sends its
 * ticket within a round trip, so it is rarely the oldest of its network; a flood from few networks evicts its own
 * connections.
 */
export class UnauthenticatedConnections<Connection> {
  readonly #networkOf = new Map<Connection, string>();
  /** Connections by network, the oldest first. */
  readonly #byNetwork = new Map<string, Set<Connection>>();
  /** Networks by their number of connections, so that the largest is found without reading all. */
  readonly #bySize = new Map<number, Set<string>>();

  constructor(private readonly limits: UnauthenticatedLimits) {}

  get size(): number {
    return this.#networkOf.size;
  }

  /** Adds a connection. Returns the connection that it evicts, which is no longer counted, or null. */
  add(address: string, connection: Connection): Connection | null {
    const network = networkOf(address) ?? 'unknown';
    const connections = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, connections);
    this.#networkOf.set(connection, network);
    connections.add(connection);
    this.resize(network, connections.size - 1, connections.size);
    if (connections.size > this.limits.connectionsOfNetwork) return this.evictOf(network);
    return this.size > this.limits.connections ? this.evict() : null;
  }

  /** Removes a connection that has authenticated or ended; does nothing for others. */
  remove(connection: Connection): void {
    const network = this.#networkOf.get(connection);
    const connections = network === undefined ? undefined : this.#byNetwork.get(network);
    if (network === undefined || connections === undefined) return;
    this.#networkOf.delete(connection);
    connections.delete(connection);
    this.resize(network, connections.size + 1, connections.size);
    if (connections.size === 0) this.#byNetwork.delete(network);
  }

  /** Removes and returns the oldest connection of the network that has the most; null when there is none. */
  evict(): Connection | null {
    // A network exceeds its limit by one at most.
    for (let size = this.limits.connectionsOfNetwork + 1; size > 0; size -= 1) {
      const [network] = this.#bySize.get(size) ?? [];
      if (network !== undefined) return this.evictOf(network);
    }
    return null;
  }

  private evictOf(network: string): Connection | null {
    const [oldest] = this.#byNetwork.get(network) ?? [];
    if (oldest === undefined) return null;
    this.remove(oldest);
    return oldest;
  }

  private resize(network: string, from: number, to: number): void {
    const before = this.#bySize.get(from);
    before?.delete(network);
    if (before?.size === 0) this.#bySize.delete(from);
    if (to === 0) return;
    const after = this.#bySize.get(to) ?? new Set();
    this.#bySize.set(to, after.add(network));
  }
}
