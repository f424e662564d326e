import net from 'node:net';
import tls from 'node:tls';
import { readFileSync } from 'node:fs';
import type { SystemConnection, SystemConnectionStore } from '@countersign/carriers/leases';
import type { Database, DatabaseClock } from '@countersign/postgres';
import { certificateNames } from './certificate-names.js';
import { ConnectionRegistry } from './connection-registry.js';
import { ConnectionLimit, nameOf } from './connection-limit.js';
import type { BindLockout } from './bind-lockout.js';
import type { Peer } from './bind-authenticator.js';
import { SystemLink, type SystemLinkOptions } from './system-link.js';
import type { SystemCache } from './system-cache.js';

const TLS_HANDSHAKE_MS = 10_000;
/** Time limit for closing a link whose system may no longer be connected. */
const EVICT_MS = 5_000;

export interface ListenerTls {
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** CA file that client certificates must chain to; null: none is requested. */
  readonly clientCaFile: string | null;
}

export interface ListenerOptions extends Omit<SystemLinkOptions, 'onBound'> {
  readonly systemCache: SystemCache;
  readonly bindLockout: BindLockout;
  readonly store: SystemConnectionStore;
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, 'newId'>;
  readonly host: string;
  readonly port: number;
  /** Null: no TLS port. */
  readonly tls: ListenerTls | null;
}

type RejectedConnection = 'shut_out' | 'full' | 'peer_full' | 'evicted' | 'network';

/** Listens for carriers and aggregators that connect in, plain and with TLS 1.2 or later. */
export class ListenerService {
  readonly #servers: net.Server[] = [];
  readonly #connections = new ConnectionLimit<net.Socket>();
  readonly #links = new Set<SystemLink>();
  #registry: ConnectionRegistry | undefined;

  constructor(private readonly o: ListenerOptions) {
    o.metrics.links.setLinkSource('listener', () => [...this.#links].map((link) => link.view()));
    o.metrics.links.setWithoutProofSource(() => o.systemCache.withoutProof.length);
  }

  /** Whether every port is open, for readiness. */
  get isListening(): boolean {
    return this.#servers.length > 0 && this.#servers.every((server) => server.listening);
  }

  /** Opens the ports. Rejects with an error that names the port and the remedy when a port cannot be opened. */
  async listen(): Promise<void> {
    this.#registry = new ConnectionRegistry({
      ...this.o,
      connections: () => this.boundConnections(),
      onElsewhere: (elsewhere) => this.o.authenticator.setConnectionsElsewhere(elsewhere),
    });
    this.o.systemCache.onRead((startedMs) => this.applySystemRows(startedMs));
    this.o.systemCache.start();
    await this.openPort(
      (socket) => this.openLink(socket, { overTls: false, certificateNames: null }),
      this.o.port,
      'GATEWAY_SMPP_PORT',
    );
    if (this.o.tls !== null) {
      const secure = this.secureServer(this.o.tls);
      // The TLS server has no port of its own: it receives admitted connections before their handshake.
      await this.openPort((socket) => secure.emit('connection', socket), this.o.tls.port, 'GATEWAY_SMPP_TLS_PORT');
    }
  }

  /** Accepts no new connection; open connections stay. */
  stopAccepting(): void {
    for (const server of this.#servers) server.close();
  }

  /** Answers received messages, unbinds and closes every link within the time limit. */
  async unbindAll(withinMs: number): Promise<void> {
    await this.o.systemCache.stop();
    await Promise.all([...this.#links].map((link) => link.close(withinMs)));
    for (const socket of this.#connections.connections) socket.destroy();
    await this.#registry?.stop();
  }

  private secureServer({ certFile, keyFile, clientCaFile }: ListenerTls): tls.Server {
    const clients = clientCaFile === null ? {} : { ca: readFileSync(clientCaFile), requestCert: true };
    const secure = tls.createServer({
      cert: readFileSync(certFile),
      key: readFileSync(keyFile),
      ...clients,
      rejectUnauthorized: clientCaFile !== null,
      minVersion: 'TLSv1.2',
      handshakeTimeout: TLS_HANDSHAKE_MS,
    });
    secure.on('secureConnection', (socket) =>
      this.openLink(socket, {
        overTls: true,
        certificateNames: clientCaFile === null ? null : certificateNames(socket.getPeerCertificate()),
      }),
    );
    secure.on('tlsClientError', (error) => this.o.logger.debug({ err: error }, 'listener: TLS handshake failed'));
    return secure;
  }

  private async openPort(serve: (socket: net.Socket) => void, port: number, variable: string): Promise<void> {
    // Paused: no octet is read before the peer is admitted.
    const server = net.createServer(
      { noDelay: true, pauseOnConnect: true },
      (socket) => void this.admitConnection(socket, serve),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, this.o.host, port, variable)));
      server.listen({ host: this.o.host, port }, resolve);
    });
    server.on('error', (error) => this.o.logger.error({ err: error, port }, 'SMPP listener failed'));
    this.#servers.push(server);
  }

  private async admitConnection(socket: net.Socket, serve: (socket: net.Socket) => void): Promise<void> {
    socket.on('error', () => undefined);
    const reason = await this.connectionRejection(socket);
    if (reason !== null) this.rejectConnection(socket, reason);
    else if (!socket.destroyed) serve(socket);
  }

  /** The reason to reject a connection, or null. An admitted connection counts against the limits until it closes. */
  private async connectionRejection(socket: net.Socket): Promise<RejectedConnection | null> {
    const address = socket.remoteAddress ?? '';
    const name = nameOf(socket);
    if (this.o.bindLockout.isLockedOut(address)) return 'shut_out';
    const admission = this.#connections.add(name, address, socket);
    if (!admission.admitted) return admission.reason;
    socket.once('close', () => this.#connections.remove(name));
    if (admission.evicted !== null) this.rejectConnection(admission.evicted, 'evicted');
    return (await this.o.systemCache.allowsAddress(address)) ? null : 'network';
  }

  private rejectConnection(socket: net.Socket, reason: RejectedConnection): void {
    this.o.metrics.rejectedConnections.inc({ reason });
    this.o.logger.debug({ address: socket.remoteAddress, reason }, 'listener: connection rejected');
    socket.destroy();
  }

  private openLink(socket: net.Socket, over: Pick<Peer, 'overTls' | 'certificateNames'>): void {
    if (socket.destroyed) return;
    const name = nameOf(socket);
    const peer = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0, ...over };
    const onBound = (): void => {
      this.#connections.markBound(name);
      this.#registry?.trigger();
    };
    const link = new SystemLink(socket, this.o.clock.newId(), peer, { ...this.o, onBound });
    this.#links.add(link);
    void link.ended.then(() => {
      this.#links.delete(link);
      if (link.system !== null) this.#registry?.trigger();
    });
    socket.resume();
  }

  /** Applies changed rows to bound links, so that trust, limits and `enabled` hold for the next message. */
  private applySystemRows(readMs: number): void {
    for (const link of this.#links) {
      // A link bound after the read began may belong to a system that was not read.
      if (link.system === null || link.boundSinceMs === null || link.boundSinceMs > readMs) continue;
      const system = this.o.systemCache.find(link.system.systemId);
      // Compared by id: a system deleted and created again under the same system_id must bind again.
      const isAllowed = system?.enabled === true && system.id === link.system.id && link.isAllowedBy(system);
      if (isAllowed) link.applyRow(system);
      else void link.close(EVICT_MS);
    }
  }

  private boundConnections(): SystemConnection[] {
    return [...this.#links].map(({ connection }) => connection).filter((connection) => connection !== null);
  }
}

function listenError(error: Error, host: string, port: number, variable: string): Error {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  const advice = taken ? 'another process listens there: stop it, or set another port' : error.message;
  return new Error(`cannot listen on ${host}:${port} (${variable}): ${advice}`, { cause: error });
}
