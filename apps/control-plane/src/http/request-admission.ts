import type { Duplex } from 'node:stream';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorAnswers } from './error-answers.js';
import { RefusedRequest } from './errors.js';
import { LoadShedding } from './load-shedding.js';
import { RequestAuthorizer } from './request.authorizer.js';
import { RequestDeadline } from './request-deadline.js';
import { securityHeaders } from './security-headers.js';

/** Admits requests by their headers, or answers them. */
@Injectable()
export class RequestAdmission {
  private readonly securityHeaders: Readonly<Record<string, string>>;

  constructor(
    private readonly authorizer: RequestAuthorizer,
    private readonly answers: ErrorAnswers,
    private readonly deadline: RequestDeadline,
    private readonly shedding: LoadShedding,
    @Inject(ControlPlaneSettings) { tls, publicBaseUrl }: Pick<ControlPlaneSettings, 'tls' | 'publicBaseUrl'>,
  ) {
    this.securityHeaders = securityHeaders(tls, publicBaseUrl);
  }

  /** Sets the common headers, starts the deadline and authorizes the request; calls `proceed` when it is authorized. */
  async admit(request: FastifyRequest, reply: FastifyReply, proceed: () => void): Promise<void> {
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store').headers(this.securityHeaders);
    const { route } = request.routeOptions.config;
    const budgetMs = route?.access === 'admin' || route?.access === 'sign-in' ? route.budgetMs : undefined;
    const answerLate = (): void => this.answers.send(reply, new RefusedRequest({ code: 'SERVICE_UNAVAILABLE' }));
    this.deadline.watch(request, answerLate, budgetMs);
    const refused = await this.authorizer
      .authorize(request)
      .catch((error: unknown) => this.answers.toRefusal(error, request));
    if (reply.sent) return;
    if (refused !== null) {
      refuseUnread(reply, request);
      this.answers.send(reply, refused);
      return;
    }
    if (request.limitHeaders !== null) void reply.headers(request.limitHeaders);
    this.deadline.pause(request);
    request.admittedAtMs = performance.now();
    proceed();
  }

  /**
   * Begins the work on an admitted request whose body is complete: calls `proceed`, or refuses it where too many are in progress.
   * Those are counted here and not when they are admitted, because all of a burst are admitted before the first of them begins.
   */
  begin(request: FastifyRequest, reply: FastifyReply, proceed: () => void): void {
    const overloaded = this.shedding.judge(request);
    this.deadline.begin(request);
    if (overloaded !== null) this.answers.send(reply, overloaded);
    else if (isLate(request)) void this.authorizeAgain(request, reply, proceed);
    else proceed();
  }

  private async authorizeAgain(request: FastifyRequest, reply: FastifyReply, proceed: () => void): Promise<void> {
    const refused = await this.authorizer
      .authorizeAgain(request)
      .catch((error: unknown) => this.answers.toRefusal(error, request));
    if (reply.sent) return;
    if (refused === null) proceed();
    else this.answers.send(reply, refused);
  }
}

/** A request with a key whose body arrives later than this after its headers is authorized again. */
const ADMITTED_FOR_MS = 250;

const isLate = (request: FastifyRequest): boolean =>
  request.caller !== null && hasBody(request) && performance.now() - request.admittedAtMs > ADMITTED_FOR_MS;

/** Also of a route that reads none. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

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

/** Whether a request on this connection was refused before its body was read. */
export const wasAnsweredUnread = (socket: Duplex): boolean => answeredUnread.has(socket);
