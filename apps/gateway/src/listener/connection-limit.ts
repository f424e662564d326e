import { peerNetwork } from './networks.js';

/** Open connections of systems at a time, bound or not, on both ports together. */
const MAX_CONNECTIONS = 1_000;
/** The same of one peer. */
const MAX_CONNECTIONS_OF_PEER = 200;
/** Connections that have not bound. One more evicts the oldest of the peer that has the most. */
const MAX_UNBOUND = 200;
/** The same of one peer, so that one peer cannot use up the limit alone. */
const MAX_UNBOUND_OF_PEER = 20;

/** Numbers of connections; `unbound` are those that have not authenticated. A peer is a network, see `peerNetwork`. */
export interface ConnectionBounds {
  readonly connections: number;
  readonly connectionsOfPeer: number;
  readonly unbound: number;
  readonly unboundOfPeer: number;
}

const LIMITS: ConnectionBounds = {
  connections: MAX_CONNECTIONS,
  connectionsOfPeer: MAX_CONNECTIONS_OF_PEER,
  unbound: MAX_UNBOUND,
  unboundOfPeer: MAX_UNBOUND_OF_PEER,
};

interface PeerCount {
  readonly all: Set<string>;
  /** The oldest first. */
  readonly unbound: Set<string>;
}

export type Admission<Connection> =
  | { readonly admitted: false; readonly reason: 'full' | 'peer_full' }
  | { readonly admitted: true; /** To be closed; it is no longer counted. */ readonly evicted: Connection | null };

/**
 * Bounds open connections, by name. Over a limit of connections a new one is refused; over a limit of unbound ones it
 * evicts another. Carriers bind at once, so a flood of silent connections evicts its own.
 */
export class ConnectionLimit<Connection> {
  readonly #connections = new Map<string, { readonly connection: Connection; readonly peer: string }>();
  readonly #unbound = new Set<string>();
  readonly #peers = new Map<string, PeerCount>();

  constructor(private readonly limits: ConnectionBounds = LIMITS) {}

  get connections(): Connection[] {
    return [...this.#connections.values()].map(({ connection }) => connection);
  }

  add(name: string, address: string, connection: Connection): Admission<Connection> {
    const peer = peerNetwork(address);
    const count = this.#peers.get(peer) ?? { all: new Set<string>(), unbound: new Set<string>() };
    if (this.#connections.size >= this.limits.connections) return { admitted: false, reason: 'full' };
    if (count.all.size >= this.limits.connectionsOfPeer) return { admitted: false, reason: 'peer_full' };
    this.#peers.set(peer, count);
    this.#connections.set(name, { connection, peer });
    for (const names of [this.#unbound, count.unbound, count.all]) names.add(name);
    return { admitted: true, evicted: this.evictOver(count) };
  }

  /** Marks a connection as authenticated: it is not evicted any more. */
  markBound(name: string): void {
    this.#unbound.delete(name);
    const entry = this.#connections.get(name);
    if (entry !== undefined) this.#peers.get(entry.peer)?.unbound.delete(name);
  }

  remove(name: string): void {
    const entry = this.#connections.get(name);
    if (entry === undefined) return;
    this.markBound(name);
    this.#connections.delete(name);
    const count = this.#peers.get(entry.peer);
    count?.all.delete(name);
    if (count?.all.size === 0) this.#peers.delete(entry.peer);
  }

  /**
   * The oldest unbound connection of a peer that has the most: a flood from few peers evicts its own connections, and one from many
   * that which has waited longest, not that of a carrier that is about to bind.
   */
  private oldestOfMost(): string | undefined {
    const most = Math.max(...[...this.#peers.values()].map(({ unbound }) => unbound.size));
    const unboundOf = (name: string): number => {
      const entry = this.#connections.get(name);
      return entry === undefined ? 0 : (this.#peers.get(entry.peer)?.unbound.size ?? 0);
    };
    return [...this.#unbound].find((name) => unboundOf(name) === most);
  }

  private evictOver(count: PeerCount): Connection | null {
    const [oldest] =
      count.unbound.size > this.limits.unboundOfPeer
        ? count.unbound
        : [this.#unbound.size > this.limits.unbound ? this.oldestOfMost() : undefined];
    if (oldest === undefined) return null;
    const evicted = this.#connections.get(oldest)?.connection ?? null;
    this.remove(oldest);
    return evicted;
  }
}
