import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createRequestIds } from '@countersign/telemetry';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { WebhookAnswer } from './webhook-desk.js';
import { refusalBody, refusalOfStatus, REFUSALS, type RefusalCode } from './webhook-refusal.js';

export const WEBHOOK_PATH = '/rcs/webhook';
/** Events are a few hundred octets, what people send as text a few thousand. */
const MAX_BODY_OCTETS = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_CONNECTIONS = 1_000;
const RETRY_AFTER_SECONDS = '1';
/** How long a peer may take to read the answer to what was no request. */
const LINGER_MS = 1_000;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

export interface WebhookServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Must not reject. */
  readonly take: (octets: Buffer, signature: string | undefined) => Promise<WebhookAnswer>;
}

/**
 * The gateway's HTTP port: `POST /rcs/webhook` and nothing else, plain HTTP, to be reached through a TLS proxy. Whatever
 * cannot be served is refused in the shape that the product's errors have.
 */
export class WebhookServer {
  readonly #server: FastifyInstance;
  readonly #o: WebhookServerOptions;

  constructor(options: WebhookServerOptions) {
    this.#o = options;
    this.#server = fastify({
      bodyLimit: MAX_BODY_OCTETS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      forceCloseConnections: 'idle',
      return503OnClosing: true,
      genReqId: createRequestIds(),
      clientErrorHandler: (error, socket) => refuseBroken(socket, error.code),
      frameworkErrors: (_error, request, reply) => void refuse(reply, request, 'MALFORMED_REQUEST'),
    });
    this.#server.server.maxConnections = MAX_CONNECTIONS;
    this.#readBodies();
    this.#route();
  }

  /** Listens and answers the port. A port that is taken rejects with Node's EADDRINUSE. */
  async listen(): Promise<number> {
    await this.#server.listen({ host: this.#o.host, port: this.#o.port });
    const address = this.#server.server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#o.port;
  }

  /** Takes nothing more, and waits for what is being answered. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  /** Bodies stay octets: what is in them is read once it is known that they are meant for us. */
  #readBodies(): void {
    this.#server.removeAllContentTypeParsers();
    this.#server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, octets: Buffer, done) => {
      const type = request.headers['content-type'];
      if (type === undefined || JSON_TYPE.test(type)) done(null, octets);
      else done(new UnsupportedType(), undefined);
    });
  }

  #route(): void {
    this.#server.addHook('onRequest', (request, reply, done) => {
      void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
      done();
    });
    this.#server.post(WEBHOOK_PATH, (request, reply) => this.#answer(request, reply));
    this.#server.setNotFoundHandler((request, reply) => {
      const [path] = request.url.split('?', 1);
      if (path !== WEBHOOK_PATH) return refuse(reply, request, 'NOT_FOUND');
      return refuse(reply.header('allow', 'POST'), request, 'METHOD_NOT_ALLOWED');
    });
    this.#server.setErrorHandler((error, request, reply) => {
      const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
      return refuse(reply, request, refusalOfStatus(status));
    });
  }

  async #answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const signature = request.headers['x-goog-signature'];
    const octets = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const answer = await this.#o.take(octets, typeof signature === 'string' ? signature : undefined);
    switch (answer.kind) {
      case 'taken':
        return reply.code(200).send();
      case 'secret':
        // What is sent back was sent here: nothing may take it for a page.
        return reply.type('text/plain; charset=utf-8').header('x-content-type-options', 'nosniff').send(answer.text);
      case 'refused':
        return refuse(reply, request, answer.code, answer.message);
    }
  }
}

/** What never became a request is answered on its line, which ends with it. */
function refuseBroken(socket: Duplex, nodeCode: string | undefined): void {
  if (nodeCode?.startsWith('ECONN') === true || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = nodeCode === 'HPE_HEADER_OVERFLOW' ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED_REQUEST';
  const body = refusalBody(code);
  const { status } = REFUSALS[code];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end([...head, '', body].join('\r\n'));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** As the framework says it. */
class UnsupportedType extends Error {
  readonly statusCode = 415;
}

function refuse(reply: FastifyReply, request: FastifyRequest, code: RefusalCode, message?: string): FastifyReply {
  const { status } = REFUSALS[code];
  if (status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS);
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(refusalBody(code, message));
}
