import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorAnswers } from './error-answers.js';
import { RefusedRequest } from './errors.js';
import { RequestAuthorizer } from './request.authorizer.js';
import { REQUEST_BUDGET_MS, RequestDeadline } from './request-deadline.js';
import { RequestQueue } from './request-queue.js';
import { securityHeaders } from './security-headers.js';
import { leaveUnread } from './unread-body.js';

/** Admits requests by their headers, or answers them. */
@Injectable()
export class RequestAdmission {
  private readonly securityHeaders: Readonly<Record<string, string>>;

  constructor(
    private readonly authorizer: RequestAuthorizer,
    private readonly answers: ErrorAnswers,
    private readonly deadline: RequestDeadline,
    readonly queue: RequestQueue,
    @Inject(ControlPlaneSettings) { tls, publicBaseUrl }: Pick<ControlPlaneSettings, 'tls' | 'publicBaseUrl'>,
  ) {
    this.securityHeaders = securityHeaders(tls, publicBaseUrl);
  }

  /** Sets the common headers, starts the deadline and authorizes the request; calls `proceed` when it is authorized. */
  async admit(request: FastifyRequest, reply: FastifyReply, proceed: () => void): Promise<void> {
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store').headers(this.securityHeaders);
    const { route } = request.routeOptions.config;
    const budgetMs = (route?.access === 'admin' ? route.budgetMs : undefined) ?? REQUEST_BUDGET_MS;
    const answerLate = (): void => this.answers.send(reply, new RefusedRequest({ code: 'SERVICE_UNAVAILABLE' }));
    this.deadline.watch(request, answerLate, budgetMs - this.queue.waitedMs(request.raw));
    const refused = await this.authorizer
      .authorize(request)
      .catch((error: unknown) => this.answers.toRefusal(error, request));
    if (reply.sent) return;
    if (refused !== null) {
      this.refuse(request, reply, refused);
      return;
    }
    if (request.limitHeaders !== null) void reply.headers(request.limitHeaders);
    this.deadline.pause(request);
    request.admittedAtMs = performance.now();
    proceed();
  }

  /** Refuses a request whose body is not read. */
  refuse(request: FastifyRequest, reply: FastifyReply, refused: RefusedRequest): void {
    if (leaveUnread(request.raw.socket, request.headers)) void reply.header('connection', 'close');
    this.answers.send(reply, refused);
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
