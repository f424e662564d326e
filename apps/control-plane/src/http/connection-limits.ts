import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TlsSettings } from '@countersign/settings';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

/** Connections of one process: HTTP and WebSockets; WebSockets have smaller limits of their own. */
const MAX_CONNECTIONS = 20_000;
/**
 * Of these, connections without a valid key so far: TLS handshakes, incomplete requests, readers of the documents. One
 * more evicts the oldest of the address that has the most. Clients open few connections and reuse them; a thousand from
 * one address without a key is a flood, or a proxy that must be named in TRUSTED_PROXIES.
 */
const DIRECT_LIMITS = { connections: 4_000, connectionsOfNetwork: 1_000 };
/** Behind a TLS proxy all connections are the proxy's, and the proxy limits its clients itself. */
const PROXY_LIMITS = { connections: MAX_CONNECTIONS, connectionsOfNetwork: MAX_CONNECTIONS };

/** Bounds the connections of the HTTP server, from the TCP handshake on. */
export class ConnectionLimits {
  readonly #unauthenticated: UnauthenticatedConnections<Socket>;
  /** A request refers to its TLS socket, not to the TCP socket below it; both have the same peer. */
  readonly #byPeer = new Map<string, Socket>();
  /** Sockets that carried a valid key, so that their next requests skip the peer look-up. */
  readonly #authenticated = new WeakSet<Socket>();

  constructor(mode: TlsSettings['mode']) {
    this.#unauthenticated = new UnauthenticatedConnections(mode === 'direct' ? DIRECT_LIMITS : PROXY_LIMITS);
  }

  attach(server: Server): void {
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => this.track(socket));
    // The upgrade handler counts WebSockets.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.authenticated(socket));
  }

  /** Call when a valid key was received on this connection. */
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
