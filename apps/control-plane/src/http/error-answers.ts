import { BatcherFull, DatabaseUnavailable } from '@countersign/postgres';
import { ControlPlaneSettings } from '@countersign/settings';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorLog } from '../operations/answered-request.js';
import { FailureLog } from '../operations/failure-log.js';
import { isConsoleRequest } from './console-requests.js';
import { ERRORS, errorBody, RefusedRequest, retryAfterOf, type ErrorCode, type Refusal } from './errors.js';
import type { LimitHeaders } from './limit-headers.js';
import { Limits } from './limits.js';

/** Turns every thrown error, ours or the framework's, into a response of the error catalogue. */
@Catch()
export class ErrorAnswers implements ExceptionFilter {
  constructor(
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'publicBaseUrl'>,
    @Inject(FailureLog) private readonly log: ErrorLog,
    @Inject(Limits) private readonly limits: Pick<Limits, 'ofAddress'>,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.send(http.getResponse<FastifyReply>(), this.toRefusal(error, http.getRequest<FastifyRequest>()));
  }

  /** The refusal for an error; errors with status 5xx are logged. */
  toRefusal(error: unknown, request: FastifyRequest): RefusedRequest {
    const refused = refusedBy(error);
    if (ERRORS[refused.refusal.code].status >= 500) {
      this.log.failed(error, { id: request.id, method: request.method, route: request.routeOptions.url ?? 'none' });
    }
    return refused;
  }

  /**
   * Does nothing when the request has been answered, for instance by the request deadline. Every error carries rate
   * limit headers; when no quota counted the request, those of its address, which are read first.
   */
  send(reply: FastifyReply, refused: RefusedRequest): void {
    if (reply.sent) return;
    const { limitHeaders, clientAddress } = reply.request;
    if (limitHeaders !== null) this.sendNow(reply, refused, limitHeaders);
    else void this.limits.ofAddress(clientAddress).then((found) => this.sendNow(reply, refused, found));
  }

  private sendNow(reply: FastifyReply, { refusal, headers }: RefusedRequest, limits: LimitHeaders): void {
    if (reply.sent) return;
    const { status } = ERRORS[refusal.code];
    reply.request.errorCode = refusal.code;
    const retryAfter = retryAfterOf(refusal);
    if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter));
    if (refusal.code === 'UNAUTHORIZED')
      void reply.header('www-authenticate', isConsoleRequest(reply.request.raw) ? 'Cookie' : 'Bearer');
    void reply
      .code(status)
      .headers(limits)
      .headers(headers)
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-request-id', reply.request.id)
      .send(this.body(refusal));
  }

  body(refusal: Refusal): string {
    return errorBody(refusal, this.settings.publicBaseUrl);
  }
}

/** Framework errors carry a status; their texts are not for callers, who get the catalogue's. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  503: 'SERVICE_UNAVAILABLE',
};

/** The refusal for an error. Unexpected errors become INTERNAL_ERROR without details. */
export function refusedBy(error: unknown): RefusedRequest {
  if (error instanceof RefusedRequest) return error;
  if (error instanceof DatabaseUnavailable || error instanceof BatcherFull) {
    return new RefusedRequest({ code: 'SERVICE_UNAVAILABLE' });
  }
  const status = statusOf(error);
  const code = CODE_OF_STATUS[status] ?? (status >= 400 && status < 500 ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR');
  return new RefusedRequest(code === 'MALFORMED_REQUEST' ? { code, message: 'The request cannot be read.' } : { code });
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const fromFramework = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof fromFramework === 'number' ? fromFramework : 500;
}
