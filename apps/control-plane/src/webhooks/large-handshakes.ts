import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * Received octets of a TLS handshake up to which it is a usual one: certificates of public authorities have 2 to 6 KiB. OpenSSL
 * accepts 100 KiB of certificates and parses each: 97 KB in 256 certificates are 1.3 MB of memory while the connection is open,
 * 12 KiB are 0.26 MB, one certificate 0.12 MB.
 */
const USUAL_OCTETS = 12 * 1024;
/** Connections with a larger handshake at a time; the oldest is closed for the next. */
export const MAX_LARGE = 32;
/** How often handshakes under way are looked at; a completed one is at once. */
const CHECK_INTERVAL_MS = 100;

/** Bounds the connections with large TLS handshakes: Node has no setting for the size of a certificate chain. */
export class LargeHandshakes {
  private readonly underWay = new Set<Handshake>();
  private readonly large = new Set<Handshake>();
  private timer: NodeJS.Timeout | undefined;

  /**
   * Watches the handshake on a TCP socket, which is closed after `timeoutMs`.
   *
   * @param onFailed is called when it is closed here
   */
  watch(socket: Socket, timeoutMs: number, onFailed: (error: Error) => void): Handshake {
    const handshake = new Handshake(socket, timeoutMs, onFailed, () => this.checkEnded(handshake));
    this.underWay.add(handshake);
    this.timer ??= setInterval(() => this.checkAll(), CHECK_INTERVAL_MS).unref();
    return handshake;
  }

  private checkEnded(handshake: Handshake): void {
    this.check(handshake);
    this.underWay.delete(handshake);
    if (this.underWay.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private checkAll(): void {
    for (const handshake of this.underWay) this.check(handshake);
  }

  private check(handshake: Handshake): void {
    const { socket } = handshake;
    if (socket.destroyed || socket.bytesRead <= USUAL_OCTETS || this.large.has(handshake)) return;
    this.large.add(handshake);
    socket.once('close', () => this.large.delete(handshake));
    const [oldest] = this.large;
    if (oldest === undefined || this.large.size <= MAX_LARGE) return;
    this.large.delete(oldest);
    oldest.fail(new TooManyLargeHandshakes());
  }
}

/** A TLS handshake on a TCP socket, and then the connection. */
export class Handshake {
  private readonly timer: NodeJS.Timeout;
  private secured: Socket | null = null;
  private isUnderWay = true;

  constructor(
    readonly socket: Socket,
    timeoutMs: number,
    private readonly onFailed: (error: Error) => void,
    private readonly onEnded: () => void,
  ) {
    this.timer = setTimeout(() => this.fail(new errors.ConnectTimeoutError()), Math.max(0, timeoutMs));
  }

  /** The handshake is complete with a TLS socket, or has failed. False when it was closed here before. */
  end(secured: Socket | null): boolean {
    if (!this.isUnderWay) return false;
    this.isUnderWay = false;
    this.secured = secured;
    clearTimeout(this.timer);
    this.onEnded();
    return true;
  }

  /** Closes the connection. */
  fail(error: Error): void {
    if (this.secured === null) this.socket.destroy();
    else this.secured.destroy(error);
    if (this.end(null)) this.onFailed(error);
  }
}

/** The connection was closed, since too many have a large handshake. */
class TooManyLargeHandshakes extends Error {
  override readonly name = 'TooManyLargeHandshakes';
}
