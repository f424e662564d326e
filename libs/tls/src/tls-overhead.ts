import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { connectionName } from './connection-name.js';

/**
 * Octets of a TLS connection that no content explains: handshake, headers of records, and KeyUpdates, any number of
 * which OpenSSL answers below Node, at some 20 µs for 27 octets.
 */
const MAX_OVERHEAD_OCTETS = 16 * 1024;
/** Octets on the wire that one octet of content explains; a record has 22 octets beside its content. */
const WIRE_OCTETS_OF_ONE = 3;
const CHECK_INTERVAL_MS = 500;
/** Overhead that is forgotten at each check: small frames of a WebSocket for as long as it is open. */
const FORGOTTEN_OCTETS = 512;

/** The overhead of one connection as a leaky bucket: content that was sent earlier explains no later flood. */
export class OverheadMeter {
  #received = 0;
  #content = 0;
  #overhead = 0;

  /** Call at each check with the totals of the connection in octets. Returns whether it is over the limit. */
  isOver(received: number, content: number): boolean {
    const explained = WIRE_OCTETS_OF_ONE * (content - this.#content);
    const added = Math.max(received - this.#received - explained, 0);
    this.#received = received;
    this.#content = content;
    this.#overhead = Math.max(this.#overhead + added - FORGOTTEN_OCTETS, 0);
    return this.#overhead > MAX_OVERHEAD_OCTETS;
  }
}

interface Connection {
  readonly meter: OverheadMeter;
  /** Null until the handshake is complete; until then it has no content. */
  secured: TLSSocket | null;
}

/** The connections of a TLS server with what is sent on each. Closes those over the limit, twice a second. */
export class TlsOverhead {
  readonly #connections = new Map<Socket, Connection>();
  /** By `connectionName`. */
  readonly #byName = new Map<string, Connection>();

  /**
   * Checks until the port is closed.
   *
   * @param port accepts the TCP connections
   * @param secure makes their handshakes: the same server, or one that gets them from it
   */
  attach(port: Server, secure: Server = port): void {
    const timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
    port.once('close', () => clearInterval(timer));
    port.on('connection', (socket: Socket) => this.add(socket));
    secure.on('secureConnection', (secured: TLSSocket) => {
      const connection = this.#byName.get(connectionName(secured));
      if (connection !== undefined) connection.secured = secured;
    });
  }

  private add(socket: Socket): void {
    const name = connectionName(socket);
    const connection = { meter: new OverheadMeter(), secured: null };
    this.#connections.set(socket, connection);
    this.#byName.set(name, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      if (this.#byName.get(name) === connection) this.#byName.delete(name);
    });
  }

  private check(): void {
    for (const [socket, { meter, secured }] of this.#connections) {
      if (meter.isOver(socket.bytesRead, secured?.bytesRead ?? 0)) socket.destroy();
    }
  }
}
