import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsSettings } from '@countersign/settings';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

/** Connections of one process: requests, and WebSockets, which have smaller bounds of their own. */
const MAX_CONNECTIONS = 20_000;
/**
 * Of these, connections over which no valid key has come: TLS handshakes, half requests, readers of the documents. One
 * more evicts the oldest of the address that has the most. Callers have few connections and use them again; a thousand
 * from one address without a key is a flood, or a proxy that must be named in TRUSTED_PROXIES.
 */
const DIRECT_LIMITS = { connections: 4_000, connectionsOfNetwork: 1_000 };
/** Behind a TLS proxy all connections are the proxy's, which has bounds of its own for its clients. */
const PROXY_LIMITS = { connections: MAX_CONNECTIONS, connectionsOfNetwork: MAX_CONNECTIONS };

/** Bounds the connections of the HTTP server, from the TCP handshake on. */
export class ConnectionLimits {
  readonly #unauthenticated: UnauthenticatedConnections<Socket>;
  /** A request knows its TLS socket, not the one below it; both have the same peer. */
  readonly #byPeer = new Map<string, Socket>();
  /** Sockets over which a valid key has come, so that the next request on one needs no look-up of its peer. */
  readonly #authenticated = new WeakSet<Socket>();

  constructor(mode: TlsSettings['mode']) {
    this.#unauthenticated = new UnauthenticatedConnections(mode === 'direct' ? DIRECT_LIMITS : PROXY_LIMITS);
  }

  attach(server: Server): void {
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => this.track(socket));
    // A WebSocket is counted where it is served.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.authenticated(socket));
  }

  /** A valid key came over this connection. */
  authenticated(socket: Socket): void {
    if (this.#authenticated.has(socket)) return;
    this.#authenticated.add(socket);
    const entered = this.#byPeer.get(peerOf(socket));
    if (entered !== undefined) this.#unauthenticated.remove(entered);
  }

  private track(socket: Socket): void {
    const peer = peerOf(socket);
    this.#byPeer.set(peer, socket);
    socket.once('close', () => {
      this.#unauthenticated.remove(socket);
      if (this.#byPeer.get(peer) === socket) this.#byPeer.delete(peer);
    });
    this.#unauthenticated.add(socket.remoteAddress ?? '', socket)?.destroy();
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress ?? ''} ${remotePort ?? 0}`;
