import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsSettings } from '@countersign/settings';
import { connectionName, TlsOverhead } from '@countersign/tls';
import { inRanges, parseRanges, type AddressRange } from '../targets/address-ranges.js';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

/** Connections of one process: HTTP and WebSockets; WebSockets have smaller limits of their own. */
const MAX_CONNECTIONS = 20_000;
/**
 * Of these, connections without a valid key so far: TLS handshakes, incomplete requests, readers of the documents. One
 * more evicts the oldest of the address that has the most. Clients open few connections and reuse them; a thousand from
 * one address without a key is a flood, or a proxy that must be named in TRUSTED_PROXIES.
 */
const DIRECT_LIMITS = { connections: 4_000, connectionsOfNetwork: 1_000 };
/** Connections that the keys of one account, or one admin key, exempt from the limits above; further ones stay subject to them. */
const MAX_OF_OWNER = 5_000;
/** Behind a TLS proxy these are the connections of TRUSTED_PROXIES, which limit their clients themselves. */
const PROXY_LIMITS = { connections: MAX_CONNECTIONS, connectionsOfNetwork: MAX_CONNECTIONS };
/** Of other peers, whose requests are refused with 403. One more evicts the oldest of the address that has the most. */
const OUTSIDE_LIMITS = { connections: 256, connectionsOfNetwork: 256 };
/** Further connections than MAX_CONNECTIONS, which are for the proxies; the last is the one that evicts another. */
const OUTSIDE_RESERVE = OUTSIDE_LIMITS.connections + 1;

/**
 * `shared`: of a proxy, which sends requests of any client over it. `keyed`: its last request had a valid key. `unknown`: it has had
 * none yet, or its last one had no valid key.
 */
export type ConnectionStanding = 'shared' | 'keyed' | 'unknown';

/** Bounds the connections of the HTTP server, from the TCP handshake on. */
export class ConnectionLimits {
  readonly #unauthenticated: UnauthenticatedConnections<Socket>;
  /** Connections of peers outside TRUSTED_PROXIES; empty in TLS_MODE=direct. */
  readonly #outside = new UnauthenticatedConnections<Socket>(OUTSIDE_LIMITS);
  readonly #trustedProxies: readonly AddressRange[] | null;
  /** By `connectionName`: a request refers to its TLS socket, not to the TCP socket below it. */
  readonly #byName = new Map<string, Socket>();
  /** TCP sockets by the sockets whose last request had a valid key, so that the next request skips the look-up. */
  readonly #authenticated = new WeakMap<Socket, Socket>();
  /** Those whose last request had a valid key, exempt or not. */
  readonly #keyed = new WeakSet<Socket>();
  /** Accounts or admin keys by the TCP sockets that they exempt. */
  readonly #ownerOf = new Map<Socket, string>();
  readonly #connectionsOf = new Map<string, number>();

  constructor(tls: TlsSettings) {
    this.#trustedProxies = tls.mode === 'proxy' ? parseRanges(tls.trustedProxies) : null;
    this.#unauthenticated = new UnauthenticatedConnections(tls.mode === 'direct' ? DIRECT_LIMITS : PROXY_LIMITS);
  }

  attach(server: Server): void {
    server.maxConnections = MAX_CONNECTIONS + (this.#trustedProxies === null ? 0 : OUTSIDE_RESERVE);
    server.on('connection', (socket: Socket) => this.track(socket));
    if (this.#trustedProxies === null) new TlsOverhead().attach(server);
    // The upgrade handler counts WebSockets.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.exempt(this.#byName.get(connectionName(socket))));
  }

  /** Call when a request with a valid key was received on this connection. `owner`: the account, or the admin key. */
  authenticated(socket: Socket, owner: string): void {
    if (this.#authenticated.has(socket)) return;
    this.#keyed.add(socket);
    const entered = this.#byName.get(connectionName(socket));
    const connections = this.#connectionsOf.get(owner) ?? 0;
    if (entered === undefined || connections >= MAX_OF_OWNER) return;
    this.#authenticated.set(socket, entered);
    this.#ownerOf.set(entered, owner);
    this.#connectionsOf.set(owner, connections + 1);
    this.exempt(entered);
  }

  /**
   * Call when a request without a valid key was answered on this connection: it is subject to the limits again. Without
   * this, one request with a key would exempt a connection for as long as any requests keep it open.
   */
  unauthenticated(socket: Socket): void {
    if (this.#trustedProxies !== null) return;
    this.#keyed.delete(socket);
    const entered = this.#authenticated.get(socket);
    if (entered === undefined) return;
    this.#authenticated.delete(socket);
    this.release(entered);
    if (!entered.destroyed) this.#unauthenticated.add(entered.remoteAddress ?? '', entered)?.destroy();
  }

  standingOf(socket: Socket): ConnectionStanding {
    if (this.#trustedProxies !== null) return 'shared';
    return this.#keyed.has(socket) ? 'keyed' : 'unknown';
  }

  private exempt(entered: Socket | undefined): void {
    if (entered !== undefined) this.#unauthenticated.remove(entered);
  }

  private release(entered: Socket): void {
    const owner = this.#ownerOf.get(entered);
    if (owner === undefined) return;
    this.#ownerOf.delete(entered);
    const left = (this.#connectionsOf.get(owner) ?? 1) - 1;
    if (left === 0) this.#connectionsOf.delete(owner);
    else this.#connectionsOf.set(owner, left);
  }

  private track(socket: Socket): void {
    const name = connectionName(socket);
    const address = socket.remoteAddress ?? '';
    const isOutside = this.#trustedProxies !== null && !inRanges(address, this.#trustedProxies);
    const counted = isOutside ? this.#outside : this.#unauthenticated;
    this.#byName.set(name, socket);
    socket.once('close', () => {
      counted.remove(socket);
      this.release(socket);
      if (this.#byName.get(name) === socket) this.#byName.delete(name);
    });
    counted.add(address, socket)?.destroy();
  }
}
