import net from 'node:net';
import tls from 'node:tls';
import { readFileSync } from 'node:fs';
import type { CarrierDirectory } from '@countersign/carriers';
import { Periodic } from '@countersign/postgres';
import { SystemLink, type SystemLinkOptions } from './system-link.js';

/** Connections of others that are open at a time, bound or not, on both ports together. */
const MAX_CONNECTIONS = 1_000;
/** Of these, connections that have not bound; beyond it the one that has waited longest makes room for the new one. */
const MAX_UNBOUND_CONNECTIONS = 200;
const TLS_HANDSHAKE_MS = 10_000;
/** How soon a changed or disabled system is treated as such, beside the 3 s of its copy. */
const REFRESH_MS = 1_000;
/** What a link of a disabled system may take to end. */
const EVICT_MS = 5_000;

export interface ListenerOptions extends Omit<SystemLinkOptions, 'onBound'> {
  readonly carriers: CarrierDirectory;
  readonly host: string;
  readonly port: number;
  /** Null: no TLS port. */
  readonly tls: { readonly port: number; readonly certFile: string; readonly keyFile: string } | null;
}

/** Listens for carriers and aggregators that connect in, plain and with TLS 1.2 or later. */
export class ListenerService {
  readonly #servers: net.Server[] = [];
  readonly #sockets = new Set<net.Socket>();
  /** Connections that have not bound, by their peer, those that have waited longest first. */
  readonly #unbound = new Map<string, net.Socket>();
  readonly #links = new Set<SystemLink>();
  #refresh: Periodic | undefined;

  constructor(private readonly o: ListenerOptions) {}

  /** Whether every port is listened on; what readiness asks. */
  get isListening(): boolean {
    return this.#servers.length > 0 && this.#servers.every((server) => server.listening);
  }

  /** Rejects with an error that names the port and what to do, when it cannot be had. */
  async listen(): Promise<void> {
    const plain = net.createServer({ noDelay: true }, (socket) => this.serve(socket, false));
    await this.open(plain, this.o.port, 'GATEWAY_SMPP_PORT');
    if (this.o.tls !== null) {
      const secure = tls.createServer({
        cert: readFileSync(this.o.tls.certFile),
        key: readFileSync(this.o.tls.keyFile),
        minVersion: 'TLSv1.2',
        handshakeTimeout: TLS_HANDSHAKE_MS,
        noDelay: true,
      });
      secure.on('secureConnection', (socket) => this.serve(socket, true));
      secure.on('tlsClientError', (error) => this.o.logger.debug({ err: error }, 'a TLS handshake failed'));
      await this.open(secure, this.o.tls.port, 'GATEWAY_SMPP_TLS_PORT');
    }
    this.#refresh = new Periodic({
      everyMs: REFRESH_MS,
      work: () => this.refreshSystems(),
      onError: (error) => this.o.logger.debug({ err: error }, 'systems could not be read again'),
    });
  }

  /** No new connection is taken; those that are open stay. */
  stopAccepting(): void {
    for (const server of this.#servers) server.close();
  }

  /** Answers what came in, unbinds and closes every link, within the time given. */
  async unbindAll(withinMs: number): Promise<void> {
    await this.#refresh?.stop();
    await Promise.all([...this.#links].map((link) => link.close(withinMs)));
    for (const socket of this.#sockets) socket.destroy();
  }

  private async open(server: net.Server, port: number, variable: string): Promise<void> {
    // With TLS this is the raw connection, before its handshake: that one counts too.
    server.on('connection', (socket) => this.count(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, this.o.host, port, variable)));
      server.listen({ host: this.o.host, port }, resolve);
    });
    server.on('error', (error) => this.o.logger.error({ err: error, port }, 'the SMPP listener failed'));
    this.#servers.push(server);
  }

  private count(socket: net.Socket): void {
    socket.on('error', () => undefined);
    if (this.#sockets.size >= MAX_CONNECTIONS) this.turnAway(socket);
    if (socket.destroyed) return;
    const peer = peerOf(socket);
    this.#sockets.add(socket);
    this.#unbound.set(peer, socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#unbound.delete(peer);
    });
    const [longestWaiting] = this.#unbound.values();
    if (this.#unbound.size > MAX_UNBOUND_CONNECTIONS && longestWaiting !== undefined) this.turnAway(longestWaiting);
  }

  /** Carriers bind at once, so a crowd of silent connections pushes out its own. */
  private turnAway(socket: net.Socket): void {
    this.o.metrics.turnedAway.inc();
    socket.destroy();
  }

  private serve(socket: net.Socket, overTls: boolean): void {
    if (socket.destroyed) return;
    const peer = peerOf(socket);
    const onBound = (): void => void this.#unbound.delete(peer);
    const link = new SystemLink(socket, { address: socket.remoteAddress ?? '', overTls }, { ...this.o, onBound });
    this.#links.add(link);
    void link.ended.then(() => this.#links.delete(link));
  }

  /** Bound links follow their rows: what is trusted or disabled now holds for messages that come now. */
  private async refreshSystems(): Promise<boolean> {
    for (const link of this.#links) {
      if (link.system === null) continue;
      const system = await this.o.carriers.system(link.system.systemId);
      if (system?.enabled === true) link.adopt(system);
      else void link.close(EVICT_MS);
    }
    return false;
  }
}

/** Names a connection; the same for a TLS socket and the raw one below it. */
const peerOf = ({ remoteAddress, remotePort }: net.Socket): string => `${remoteAddress ?? ''} ${remotePort ?? 0}`;

function listenError(error: Error, host: string, port: number, variable: string): Error {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  const advice = taken ? 'another process listens there: stop it, or set another port' : error.message;
  return new Error(`cannot listen on ${host}:${port} (${variable}): ${advice}`, { cause: error });
}
