import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Mode } from '@countersign/keys';
import type { TlsSettings } from '@countersign/settings';
import { boundPipelining } from '@countersign/telemetry';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAuthorizer } from './request.authorizer.js';
import { isAdminPermission } from './admin-policy.js';
import type { AllowedMethods } from './allowed-methods.js';
import type { ErrorAnswers } from './error-answers.js';
import { ConnectionLimits } from './connection-limits.js';
import { RefusedRequest } from './errors.js';
import type { Limits } from './limits.js';
import { isBelowHttp, rawAnswer, refusalOfBrokenHttp, refuseRaw } from './raw-refusal.js';
import { MAX_BODY_OCTETS, readBody } from './request-body.js';
import type { RequestDeadline } from './request-deadline.js';
import type { Caller } from './route-access.js';
import { UnreadAnswers } from './unread-answers.js';

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

export interface ServerOptions {
  readonly tls: TlsSettings;
  readonly publicBaseUrl: string;
  /** Headers of every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly authorizer: RequestAuthorizer;
  readonly methods: AllowedMethods;
  readonly answers: ErrorAnswers;
  readonly limits: Limits;
  readonly deadline: RequestDeadline;
  readonly newRequestId: () => string;
  /** Called after every answer. `route` is the pattern of the route, or `none`. */
  readonly onAnswer: (answer: AnsweredRequest) => void;
}

export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** Mode of the caller's API key; `none` without a valid API key. */
  readonly mode: Mode | 'none';
  /** Excludes the waits in `RequestDeadline.hold`. */
  readonly elapsedMs: number;
}

/**
 * The HTTP server of the control plane, on which Nest registers its routes: TLS 1.3, or plain HTTP behind a TLS proxy;
 * every wait and every size bounded; requests authorized before a body is read. Hooks instead of interceptors: a tenth
 * of the cost.
 */
export function createServer(options: ServerOptions): FastifyAdapter {
  const { tls, newRequestId } = options;
  const connections = new ConnectionLimits(tls.mode);
  const bounds = {
    maxHeaderSize: MAX_HEAD_OCTETS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // A request without Host is refused with our own body, not with Node's empty one.
    requireHostHeader: false,
  };
  const adapter = new FastifyAdapter({
    ...(tls.mode === 'direct' ? { https: { ...bounds, ...tlsOptions(tls) } } : { http: bounds }),
    skipMiddie: true,
    logger: false,
    genReqId: newRequestId,
    bodyLimit: MAX_BODY_OCTETS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_HEAD_OCTETS },
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
      void admit(options, request, reply, () => undefined),
    clientErrorHandler: (error, socket) => {
      // After an early response to an unread body there is nothing to add, and below HTTP no response is possible.
      if (answeredUnread.has(socket) || isBelowHttp(error.code)) socket.destroy();
      else void refuseBroken(options, socket, error.code);
    },
  });
  const instance: FastifyInstance = adapter.getInstance();
  connections.attach(instance.server);
  boundPipelining(instance.server);
  // Node would answer an unknown Expect header with an empty 417.
  instance.server.on('checkExpectation', (request, response) => instance.server.emit('request', request, response));
  addHooks(instance, options, connections);
  addBodyParser(instance);
  return adapter;
}

function tlsOptions(tls: { readonly certFile: string; readonly keyFile: string }): object {
  return {
    minVersion: 'TLSv1.3',
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
  };
}

function addHooks(instance: FastifyInstance, options: ServerOptions, connections: ConnectionLimits): void {
  const { deadline, methods, onAnswer } = options;
  const unreadAnswers = new UnreadAnswers();
  unreadAnswers.start();
  instance.decorateRequest('caller', null);
  instance.decorateRequest('callerId', null);
  instance.decorateRequest('limitHeaders', null);
  instance.decorateRequest('clientAddress', '');
  instance.decorateRequest('bodyDigest', null);
  instance.decorateRequest('deadline', { getter: () => deadline });
  instance.addHook('onRoute', ({ url, method, config }) => {
    const route = config?.route;
    if (route === undefined) throw new Error(`${url} does not declare its access (@Access)`);
    if (route.access === 'admin' && !isAdminPermission(route.needs)) {
      throw new Error(`${url} does not name a permission of ADMIN_POLICY`);
    }
    methods.learn(url, [method].flat());
  });
  instance.addHook('onRequest', (request, reply, done) => {
    // The connection was destroyed because of too many pipelined requests.
    if (request.raw.socket.destroyed) return;
    if (request.routeOptions.config.route?.access === 'public')
      unreadAnswers.trackPublic(request.raw.socket, reply.raw);
    void admit(options, request, reply, done);
  });
  instance.addHook('preValidation', (request, _reply, done) => {
    if (request.callerId !== null) connections.authenticated(request.raw.socket, request.callerId);
    deadline.resume(request);
    done();
  });
  instance.addHook('onSend', ({ raw, callerId }, reply, payload, done) => {
    if (callerId === null) connections.unauthenticated(raw.socket);
    unreadAnswers.track(raw.socket, reply.raw, callerId, octetsOf(payload));
    done();
  });
  instance.addHook('onClose', (_instance, done) => {
    unreadAnswers.stop();
    done();
  });
  instance.addHook('onResponse', (request, reply, done) => {
    const elapsedMs = reply.elapsedTime - deadline.done(request);
    const route = request.routeOptions.url ?? 'none';
    const { id, method, caller } = request;
    onAnswer({ id, method, route, status: reply.statusCode, mode: modeOfCaller(caller), elapsedMs });
    done();
  });
}

/** Connections whose broken HTTP is being refused: their further input is ignored. */
const beingRefused = new WeakSet<Duplex>();

async function refuseBroken(
  { limits, publicBaseUrl, securityHeaders, newRequestId }: ServerOptions,
  socket: Duplex,
  nodeCode: string | undefined,
): Promise<void> {
  if (beingRefused.has(socket)) return;
  beingRefused.add(socket);
  const address = socket instanceof Socket ? (socket.remoteAddress ?? '') : '';
  const headers = { 'x-request-id': newRequestId(), ...securityHeaders, ...(await limits.ofAddress(address)) };
  refuseRaw(socket, rawAnswer(refusalOfBrokenHttp(nodeCode), publicBaseUrl, headers));
}

/** Connections with a request that was refused before its body was read. */
const answeredUnread = new WeakSet<Duplex>();
/** A body up to this size is read and discarded, so that its connection can be reused. */
const MAX_UNREAD_OCTETS = 64 * 1024;

/** Prepares the refusal of a request with an unread body; a connection with a large body closes. */
function refuseUnread(reply: FastifyReply, { raw, headers }: FastifyRequest): void {
  const length = Number(headers['content-length'] ?? 0);
  const chunked = headers['transfer-encoding'] !== undefined;
  if (length === 0 && !chunked) return;
  answeredUnread.add(raw.socket);
  if (chunked || length > MAX_UNREAD_OCTETS) void reply.header('connection', 'close');
}

/** Sets the common headers, starts the deadline and authorizes the request; calls `proceed` when it is authorized. */
async function admit(
  { authorizer, answers, deadline, securityHeaders }: ServerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  proceed: () => void,
): Promise<void> {
  void reply.header('x-request-id', request.id).header('cache-control', 'no-store').headers(securityHeaders);
  const { route } = request.routeOptions.config;
  const budgetMs = route?.access === 'admin' ? route.budgetMs : undefined;
  const answerLate = (): void => answers.send(reply, new RefusedRequest({ code: 'SERVICE_UNAVAILABLE' }));
  deadline.watch(request, answerLate, budgetMs);
  const refused = await authorizer.authorize(request).catch((error: unknown) => answers.toRefusal(error, request));
  if (reply.sent) return;
  if (refused !== null) {
    refuseUnread(reply, request);
    answers.send(reply, refused);
    return;
  }
  if (request.limitHeaders !== null) void reply.headers(request.limitHeaders);
  deadline.pause(request);
  proceed();
}

const modeOfCaller = (caller: Caller | null): Mode | 'none' =>
  caller === null || caller.kind === 'admin' ? 'none' : caller.tenant.mode;

const octetsOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;

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
