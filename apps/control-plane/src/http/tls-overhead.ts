import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * Octets of a TLS connection that no request explains: handshake, headers of records, and KeyUpdates, any number of
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

/** The TCP sockets of a TLS server with what is sent on each. Closes those over the limit, twice a second. */
export class TlsOverhead {
  readonly #meters = new Map<Socket, OverheadMeter>();
  readonly #secured = new WeakMap<Socket, TLSSocket>();

  /** Begins to check, until the server is closed. */
  attach(server: Server): void {
    const timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
    server.once('close', () => clearInterval(timer));
  }

  add(socket: Socket): void {
    this.#meters.set(socket, new OverheadMeter());
    socket.once('close', () => this.#meters.delete(socket));
  }

  /** Call when the handshake on the TCP socket is complete; until then it has no content. */
  secured(socket: Socket, secured: TLSSocket): void {
    this.#secured.set(socket, secured);
  }

  private check(): void {
    for (const [socket, meter] of this.#meters) {
      if (meter.isOver(socket.bytesRead, this.#secured.get(socket)?.bytesRead ?? 0)) socket.destroy();
    }
  }
}
