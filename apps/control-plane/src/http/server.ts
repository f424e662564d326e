import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as TlsServer, type SecureContextOptions } from 'node:tls';
import { boundedQuery, boundRequests, WebSocketOrPlainRequest } from '@countersign/http';
import type { TlsSettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { AGREED_TLS, CertificateReload } from '@countersign/tls';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ConnectionLimits } from './connection-limits.js';
import { isBelowHttp } from './raw-refusal.js';
import { MAX_BODY_OCTETS, readBody } from './request-body.js';
import { routedUrl } from './console-requests.js';
import { isVersioned } from './request.authorizer.js';
import type { RequestQueue } from './request-queue.js';
import type { ServerHooks } from './server-hooks.js';
import { wasAnsweredUnread } from './unread-body.js';

const MAX_HEAD_OCTETS = 16 * 1024;
/** From the first octet of a request to the last of its headers, and to the last of its body. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** Interval at which Node checks for requests over their timeout. */
const TIMEOUT_CHECK_INTERVAL_MS = 2_000;
/** Idle time of a socket while a request is answered. A client that does not read is closed by UnreadAnswers, also in 30 s. */
const IDLE_TIMEOUT_MS = 30_000;
/** Longer than the idle time of usual load balancers, so that the load balancer closes first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;

/** No route has these paths. */
const UNREADABLE = '/unreadable';
const UNREADABLE_OF_API = '/v1/unreadable';

const BOUNDS = {
  maxHeaderSize: MAX_HEAD_OCTETS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  // A request without Host is refused with our own body, not with Node's empty one.
  requireHostHeader: false,
  // An upgrade to another protocol than WebSocket is ignored.
  IncomingMessage: WebSocketOrPlainRequest,
};

/**
 * The HTTP server of the control plane, on which Nest registers its routes: TLS 1.3, or plain HTTP behind a TLS proxy;
 * every wait and every size bounded; requests authorized before a body is read. Hooks instead of interceptors: a tenth
 * of the cost.
 */
export class ApiServer {
  readonly adapter: FastifyAdapter;
  readonly #connections: ConnectionLimits;
  #hooks: ServerHooks | undefined;

  /** @param newRequestId called for every request that was parsed */
  constructor(
    private readonly tls: TlsSettings,
    newRequestId: () => string,
  ) {
    this.#connections = new ConnectionLimits(tls);
    this.adapter = new FastifyAdapter({
      ...(tls.mode === 'direct' ? { https: { ...BOUNDS, ...tlsOptions(tls) } } : { http: BOUNDS }),
      skipMiddie: true,
      rewriteUrl: routedUrl,
      logger: false,
      genReqId: newRequestId,
      bodyLimit: MAX_BODY_OCTETS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionTimeout: IDLE_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      forceCloseConnections: 'idle',
      return503OnClosing: false,
      routerOptions: { maxParamLength: MAX_HEAD_OCTETS, querystringParser: boundedQuery },
      frameworkErrors: (_error: Error, { raw }: FastifyRequest, reply: FastifyReply) =>
        this.#routeToNotFound(raw, reply.raw),
      clientErrorHandler: (error, socket) => {
        // After an early response to an unread body there is nothing to add, and below HTTP no response is possible.
        if (wasAnsweredUnread(socket) || isBelowHttp(error.code)) socket.destroy();
        else void this.#hooks?.responses.refuseBroken(socket, error.code);
      },
    });
    const { server }: FastifyInstance = this.adapter.getInstance();
    this.#connections.attach(server);
    // Node would answer an unknown Expect header with an empty 417.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  }

  /**
   * Routes a request whose path cannot be decoded again, as one to a path that does not exist: for what the router cannot read Fastify
   * runs no hook, so nothing would count the request, limit it, or notice that it is answered.
   */
  #routeToNotFound(raw: IncomingMessage & { originalUrl?: string | undefined }, response: ServerResponse): void {
    const { url = '/' } = raw;
    raw.url = isVersioned(url) ? UNREADABLE_OF_API : UNREADABLE;
    const instance: FastifyInstance = this.adapter.getInstance();
    instance.routing(raw, response);
    raw.originalUrl = url;
  }

  /** Lets new connections use a renewed certificate; connections that are open stay. */
  watchCertificate(logger: Logger): CertificateReload {
    const { tls } = this;
    const { server }: FastifyInstance = this.adapter.getInstance();
    return new CertificateReload({
      files: tls.mode === 'direct' ? [tls.certFile, tls.keyFile] : [],
      apply: () => {
        if (tls.mode === 'direct' && server instanceof TlsServer) server.setSecureContext(secureContext(tls));
      },
      onReload: () => logger.info('HTTPS: certificate read again'),
      onError: (err) => logger.error({ err }, 'HTTPS: certificate cannot be used; the present one stays in use'),
    });
  }

  /** Adds the queue and the hooks of all requests. Call once, before routes are registered and the server listens. */
  use(hooks: ServerHooks): void {
    this.#hooks = hooks;
    const instance: FastifyInstance = this.adapter.getInstance();
    hooks.addTo(instance, this.#connections);
    this.queueRequests(hooks.admission.queue);
    // Before the queue, so that requests which wait are counted as unanswered.
    const unanswered = boundRequests(instance.server);
    // The answers of earlier requests would be written into the WebSocket.
    instance.server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
      if (unanswered.hasAny(socket)) socket.destroy();
    });
    addBodyParser(instance);
  }

  private queueRequests(queue: RequestQueue): void {
    const { server }: FastifyInstance = this.adapter.getInstance();
    const listeners = server.listeners('request');
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      queue.add(request, response, this.#connections.standingOf(request.socket), () => {
        for (const listener of listeners) listener.call(server, request, response);
      });
    });
  }
}

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const secureContext = ({ certFile, keyFile }: TlsFiles): SecureContextOptions => ({
  ...AGREED_TLS,
  minVersion: 'TLSv1.3',
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

const tlsOptions = (files: TlsFiles): object => ({
  ...secureContext(files),
  handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
});

function addBodyParser(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser(
    ['application/json', '*'],
    { parseAs: 'buffer', bodyLimit: MAX_BODY_OCTETS },
    (request, octets: Buffer, done) => {
      try {
        done(null, readBody(request, octets));
      } catch (error) {
        done(
          error instanceof Error
            ? error
            : new Error('body could not be read: thrown value is not an Error', { cause: error }),
        );
      }
    },
  );
}
