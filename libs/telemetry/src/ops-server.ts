import type { Socket } from 'node:net';
import { boundRequests, forbidSniffing, headFault } from '@countersign/http';
import { fastify, type FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.js';
import type { Check } from './readiness.js';
import { Readiness } from './readiness.js';

export interface OpsServerOptions {
  readonly host: string;
  /** 0 uses any free port. */
  readonly port: number;
  readonly metrics: Metrics;
  /** By the name shown in `/readyz`. */
  readonly checks: Readonly<Record<string, Check>>;
}

// No route has a body or takes long.
const REQUEST_TIMEOUT_MS = 5000;
/** How often Node checks for requests over their timeout. */
const TIMEOUT_CHECK_INTERVAL_MS = 500;
const KEEP_ALIVE_TIMEOUT_MS = 30_000;
const MAX_HEAD_BYTES = 8 * 1024;
const BODY_LIMIT_BYTES = 1024;
/** A further connection closes the oldest, so that probes are answered however many connections stall. */
const MAX_CONNECTIONS = 64;

/**
 * The operations port of a process, separate from the product's: `/healthz` answers 200 while the event loop runs,
 * `/readyz` 200 or 503 with every named check, `/metrics` in Prometheus text format. Plain HTTP without a key: bind
 * it to loopback or to a network of the operators.
 */
export class OpsServer {
  readonly #server: FastifyInstance;
  /** Oldest first. */
  readonly #connections = new Set<Socket>();
  readonly #readiness: Readiness;
  readonly #options: OpsServerOptions;

  constructor(options: OpsServerOptions) {
    this.#options = options;
    this.#readiness = new Readiness(options.checks);
    this.#server = fastify({
      bodyLimit: BODY_LIMIT_BYTES,
      http: {
        maxHeaderSize: MAX_HEAD_BYTES,
        headersTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      },
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      forceCloseConnections: true,
    });
    this.#server.server.on('connection', (socket) => this.#boundConnections(socket));
    boundRequests(this.#server.server);
    forbidSniffing(this.#server.server);
    this.#route();
  }

  /** Listens and returns the port. A port in use rejects with Node's EADDRINUSE. */
  async listen(): Promise<number> {
    await this.#server.listen({ host: this.#options.host, port: this.#options.port });
    const address = this.#server.server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  /** `/readyz` answers 503 from now on; the first step of a shutdown. */
  drain(): void {
    this.#readiness.stop();
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  #boundConnections(socket: Socket): void {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
    const [oldest] = this.#connections;
    if (this.#connections.size <= MAX_CONNECTIONS || oldest === undefined) return;
    this.#connections.delete(oldest);
    oldest.destroy();
  }

  #route(): void {
    this.#server.addHook('onRequest', ({ raw }, _reply, done) => {
      const fault = headFault(raw);
      done(fault === null ? undefined : Object.assign(new Error(fault), { statusCode: 400 }));
    });
    this.#server.get('/healthz', () => ({ status: 'ok' }));
    this.#server.get('/readyz', async (_, reply) => {
      const { ready, checks } = await this.#readiness.report();
      return reply.status(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', checks });
    });
    this.#server.get('/metrics', async (_, reply) => {
      const { contentType, text } = await this.#options.metrics.render();
      return reply.header('content-type', contentType).send(text);
    });
  }
}
