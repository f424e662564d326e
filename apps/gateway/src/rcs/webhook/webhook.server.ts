import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { boundedQuery, boundRequests, headFault } from '@countersign/http';
import { GatewaySettings } from '@countersign/settings';
import { createRequestIds } from '@countersign/telemetry';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { connectionName } from '@countersign/tls';
import { ConnectionLimit } from '../../listener/connection-limit.js';
import { BodyFragmented, BodyReadEvicted, BodyReads, BodyTooLarge } from './body-reads.js';
import { RbmWebhookHandler } from './rbm-webhook.handler.js';
import { MAX_HANDSHAKE_OCTETS } from './webhook-head.js';
import { refusalBody, refusalOfStatus, REFUSALS, type RefusalCode } from './webhook-refusal.js';

export const WEBHOOK_PATH = '/rcs/webhook';
const MAX_HEAD_OCTETS = 8 * 1024;
/** From the first octet of a request, or from connecting, to the last octet of its body. */
const REQUEST_TIMEOUT_MS = 10_000;
/** How often Node checks for requests over their timeout. */
const TIMEOUT_CHECK_INTERVAL_MS = 500;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Bodies being received at a time; one more evicts the oldest. */
const MAX_BODIES_IN_FLIGHT = 100;
/**
 * Limits of all connections, and of connections without a signed event so far (`unbound`): one more evicts the oldest
 * unbound connection. Behind a TLS proxy all peers share an address, so the limits per peer equal the totals.
 */
const CONNECTION_LIMITS = { connections: 1_000, connectionsOfPeer: 1_000, unbound: 900, unboundOfPeer: 900 };
const RETRY_AFTER_SECONDS = '1';
/** Time for a refused peer to read its answer; what it sends meanwhile is discarded. */
const LINGER_MS = 1_000;

/**
 * The gateway's HTTP port: `POST /rcs/webhook` only, plain HTTP behind a TLS proxy. Refusals have the form of the product's
 * errors.
 */
@Injectable()
export class WebhookServer {
  readonly #server: FastifyInstance;
  readonly #bodies = new BodyReads(MAX_BODIES_IN_FLIGHT);
  readonly #connections = new ConnectionLimit<Socket>(CONNECTION_LIMITS);

  constructor(
    @Inject(GatewaySettings) private readonly settings: Pick<GatewaySettings, 'httpHost' | 'httpPort'>,
    @Inject(RbmWebhookHandler)
    private readonly handler: Pick<RbmWebhookHandler, 'checkHead' | 'handlePost' | 'countUnreadBody'>,
  ) {
    this.#server = fastify({
      routerOptions: { querystringParser: boundedQuery },
      http: {
        maxHeaderSize: MAX_HEAD_OCTETS,
        headersTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      },
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      forceCloseConnections: 'idle',
      return503OnClosing: true,
      genReqId: createRequestIds(),
      clientErrorHandler: (error, socket) => refuseBroken(socket, error.code),
      frameworkErrors: (_error, request, reply) => void refuse(reply, request, 'MALFORMED_REQUEST'),
    });
    this.#boundConnections();
    this.#route();
  }

  /** Listens and returns the port; 0 takes any free port. Rejects with Node's EADDRINUSE when the port is in use. */
  async listen(): Promise<number> {
    const { httpHost: host, httpPort: port } = this.settings;
    await this.#server.listen({ host, port });
    const address = this.#server.server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Accepts no further requests, and waits for those being answered. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  #boundConnections(): void {
    const { server } = this.#server;
    boundRequests(server);
    server.on('connection', (socket) => {
      const name = connectionName(socket);
      const admission = this.#connections.add(name, socket.remoteAddress ?? '', socket);
      if (!admission.admitted) {
        socket.destroy();
        return;
      }
      socket.once('close', () => this.#connections.remove(name));
      admission.evicted?.destroy();
    });
    // Without this listener Node answers 100 Continue before the headers are judged.
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
  }

  #route(): void {
    // Passes the stream on unread: the body is read after the headers are judged.
    this.#server.removeAllContentTypeParsers();
    this.#server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    this.#server.addHook('onRequest', (request, reply, done) => {
      // The connection was destroyed: after a refused request, or because too many requests were pipelined.
      if (request.raw.socket.destroyed) return;
      void reply
        .header('x-request-id', request.id)
        .header('cache-control', 'no-store')
        // The text of a handshake is chosen by the sender: browsers must not interpret it as a page.
        .header('x-content-type-options', 'nosniff');
      const fault = headFault(request.raw);
      if (fault === null) done();
      else void refuse(reply, request, 'MALFORMED_REQUEST', fault);
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
    const signature = textOf(request.headers['x-goog-signature']);
    const head = this.handler.checkHead({
      signature,
      contentType: request.headers['content-type'],
      contentLength: contentLengthOf(request),
    });
    if (head.kind === 'refuse') return refuse(reply, request, head.code);
    const octets = await this.#read(request, reply, head.maxOctets);
    if (!Buffer.isBuffer(octets)) return octets;
    const answer = await this.handler.handlePost(octets, signature);
    switch (answer.kind) {
      case 'accepted':
        this.#connections.markBound(connectionName(request.raw.socket));
        return reply.code(200).send();
      case 'secret':
        return reply.type('text/plain; charset=utf-8').send(answer.text);
      case 'refused':
        return refuse(reply, request, answer.code, answer.message);
    }
  }

  /** The body, or the reply that refuses it. */
  async #read(request: FastifyRequest, reply: FastifyReply, maxOctets: number): Promise<Buffer | FastifyReply> {
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
    try {
      return await this.#bodies.read(request.raw, maxOctets);
    } catch (error) {
      if (error instanceof BodyTooLarge) {
        this.handler.countUnreadBody('too_large');
        // An unsigned body over this limit is no handshake.
        return refuse(reply, request, maxOctets === MAX_HANDSHAKE_OCTETS ? 'UNAUTHORIZED' : 'PAYLOAD_TOO_LARGE');
      }
      if (error instanceof BodyFragmented) {
        this.handler.countUnreadBody('too_large');
        // Closed without an answer, so that no further chunk is read.
        reply.hijack();
        request.raw.destroy();
        return reply;
      }
      if (!(error instanceof BodyReadEvicted)) return refuse(reply, request, 'MALFORMED_REQUEST');
      this.handler.countUnreadBody('evicted');
      return refuse(reply, request, 'SERVICE_UNAVAILABLE');
    }
  }
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

/** Null for a chunked body. Node refuses lengths that are not numbers before this. */
function contentLengthOf({ headers }: FastifyRequest): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/** Answers octets that are not an HTTP request, or a request that is not complete in time, and ends the connection. */
function refuseBroken(socket: Duplex, nodeCode: string | undefined): void {
  if (nodeCode?.startsWith('ECONN') === true || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOfBroken(nodeCode);
  const body = refusalBody(code);
  const { status } = REFUSALS[code];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end([...head, '', body].join('\r\n'), () => {
    // After a timeout the peer gets no further time.
    if (code === 'REQUEST_TIMEOUT') socket.destroy();
  });
  destroyLater(socket);
}

function codeOfBroken(nodeCode: string | undefined): RefusalCode {
  if (nodeCode === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return nodeCode === 'HPE_HEADER_OVERFLOW' ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED_REQUEST';
}

function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Refuses a request and ends its connection, because the request was not signed. After 503 the connection stays open for
 * the repeat, if the whole request was read.
 */
function refuse(reply: FastifyReply, request: FastifyRequest, code: RefusalCode, message?: string): FastifyReply {
  const { status } = REFUSALS[code];
  if (status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (status !== 503 || !request.raw.complete) {
    void reply.header('connection', 'close');
    lingerOnClose(request.raw.socket);
  }
  return reply
    .code(status)
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .type('application/json; charset=utf-8')
    .send(refusalBody(code, message));
}

/**
 * Node destroys the connection after the last answer. While a body still arrives this sends a TCP reset, which can discard
 * the answer before the peer reads it. Therefore the connection is half closed first, and destroyed after LINGER_MS.
 */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    destroyLater(socket);
  };
}
