import type { Duplex } from 'node:stream';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { ErrorAnswers } from './error-answers.js';
import { RefusedRequest } from './errors.js';
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
    @Inject(ControlPlaneSettings) { tls, publicBaseUrl }: Pick<ControlPlaneSettings, 'tls' | 'publicBaseUrl'>,
    @Inject(ControlPlaneMetrics) metrics: Pick<ControlPlaneMetrics, 'watch'>,
  ) {
    metrics.watch('requests_open', 'Requests without a response yet.', () => deadline.size);
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

  /** Authorizes a request again whose body took long; calls `proceed` when it still is authorized. */
  async admitAgain(request: FastifyRequest, reply: FastifyReply, proceed: () => void): Promise<void> {
    const refused = await this.authorizer
      .authorizeAgain(request)
      .catch((error: unknown) => this.answers.toRefusal(error, request));
    if (reply.sent) return;
    if (refused === null) proceed();
    else this.answers.send(reply, refused);
  }
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

/** Whether a request on this connection was refused before its body was read. */
export const wasAnsweredUnread = (socket: Duplex): boolean => answeredUnread.has(socket);
