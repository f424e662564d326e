import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy to a server that a test can interrupt. The server is not informed. */
export interface Line {
  /** The URL of the server through this proxy. */
  readonly url: string;
  /** Discards everything sent from now on without closing anything: a lost network, a stopped process. */
  freeze(): void;
  /** Forwards again from now on, and breaks the connections that lost octets. */
  thaw(): void;
  /** Existing connections discard everything from now on and stay open; new ones work: a failover, a lost route. */
  strand(): void;
  /** Breaks all connections and refuses new ones: a server that is down. */
  cut(): Promise<void>;
  /** Accepts connections again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

class BreakableLine implements Line {
  readonly #sockets = new Set<Socket>();
  readonly #stranded = new WeakSet<Socket>();
  readonly #server: Server;
  #frozen = false;
  #port = 0;

  constructor(private readonly target: URL) {
    this.#server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      this.#link(near, far);
      this.#link(far, near);
    });
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    this.#breakAll();
  }

  strand(): void {
    for (const socket of this.#sockets) this.#stranded.add(socket);
  }

  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#breakAll();
    await closed;
  }

  async mend(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #link(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => {
      if (!this.#frozen && !this.#stranded.has(from)) to.write(bytes);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }

  #breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Opens a proxy to the server of this URL. */
export async function lineTo(target: string): Promise<Line> {
  const line = new BreakableLine(new URL(target));
  await line.mend();
  return line;
}
