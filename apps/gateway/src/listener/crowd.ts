import type { Socket } from 'node:net';
import { peerNetwork } from './networks.js';

/** Connections of others that are open at a time, bound or not, on both ports together. */
const MAX_CONNECTIONS = 1_000;
/** Of one peer, bound or not. */
const MAX_CONNECTIONS_OF_PEER = 200;
/** Connections that have not bound; beyond it the one that has waited longest, of the peer with the most, makes room. */
const MAX_UNBOUND = 200;
/** Of one peer: nobody fills the waiting room alone. */
const MAX_UNBOUND_OF_PEER = 20;

export interface CrowdLimits {
  readonly connections: number;
  readonly connectionsOfPeer: number;
  readonly unbound: number;
  readonly unboundOfPeer: number;
}

const LIMITS: CrowdLimits = {
  connections: MAX_CONNECTIONS,
  connectionsOfPeer: MAX_CONNECTIONS_OF_PEER,
  unbound: MAX_UNBOUND,
  unboundOfPeer: MAX_UNBOUND_OF_PEER,
};

interface PeerCount {
  readonly all: Set<string>;
  /** Those that have not bound, the one that has waited longest first. */
  readonly unbound: Set<string>;
}

export type Entry<Connection> =
  | { readonly entered: false; readonly reason: 'full' | 'peer_full' }
  | { readonly entered: true; /** Makes room by going. */ readonly pushedOut: Connection | null };

/**
 * Everyone who is connected, by name. Says who may not come in because it is too much, and who has to go instead: carriers
 * bind at once, so a crowd of silent connections pushes out its own.
 */
export class Crowd<Connection> {
  readonly #connections = new Map<string, { readonly connection: Connection; readonly peer: string }>();
  readonly #unbound = new Set<string>();
  readonly #peers = new Map<string, PeerCount>();

  constructor(private readonly limits: CrowdLimits = LIMITS) {}

  get connections(): Connection[] {
    return [...this.#connections.values()].map(({ connection }) => connection);
  }

  enter(name: string, address: string, connection: Connection): Entry<Connection> {
    const peer = peerNetwork(address);
    const count = this.#peers.get(peer) ?? { all: new Set<string>(), unbound: new Set<string>() };
    if (this.#connections.size >= this.limits.connections) return { entered: false, reason: 'full' };
    if (count.all.size >= this.limits.connectionsOfPeer) return { entered: false, reason: 'peer_full' };
    this.#peers.set(peer, count);
    this.#connections.set(name, { connection, peer });
    for (const names of [this.#unbound, count.unbound, count.all]) names.add(name);
    return { entered: true, pushedOut: this.pushOut(count) };
  }

  /** It is known who this is: it waits no more. */
  bound(name: string): void {
    this.#unbound.delete(name);
    const entry = this.#connections.get(name);
    if (entry !== undefined) this.#peers.get(entry.peer)?.unbound.delete(name);
  }

  leave(name: string): void {
    const entry = this.#connections.get(name);
    if (entry === undefined) return;
    this.bound(name);
    this.#connections.delete(name);
    const count = this.#peers.get(entry.peer);
    count?.all.delete(name);
    if (count?.all.size === 0) this.#peers.delete(entry.peer);
  }

  /**
   * The unbound connections of the peer that has the most: a flood from few peers evicts its own, and not a carrier
   * between its connection and its bind.
   */
  private mostUnbound(): ReadonlySet<string> {
    let most: ReadonlySet<string> = new Set();
    for (const { unbound } of this.#peers.values()) if (unbound.size > most.size) most = unbound;
    return most;
  }

  private pushOut(count: PeerCount): Connection | null {
    const crowded =
      count.unbound.size > this.limits.unboundOfPeer
        ? count.unbound
        : this.#unbound.size > this.limits.unbound
          ? this.mostUnbound()
          : [];
    const [longestWaiting] = crowded;
    if (longestWaiting === undefined) return null;
    const pushedOut = this.#connections.get(longestWaiting)?.connection ?? null;
    this.leave(longestWaiting);
    return pushedOut;
  }
}

/** Names a connection; the same for a TLS socket and the raw one below it. */
export const nameOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress ?? ''} ${remotePort ?? 0} ${localPort ?? 0}`;
