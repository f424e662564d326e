import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { errorBody, ERRORS, RefusedRequest, retryAfterOf } from './errors.js';
import type { LimitHeaders } from './limit-headers.js';
import { Limits } from './limits.js';
import { rawAnswer, refusalOfBrokenHttp, refuseRaw } from './raw-refusal.js';
import { RequestIds } from './request-ids.js';
import { securityHeaders } from './security-headers.js';
import { leaveUnread } from './unread-body.js';

/** When a caller may come back that was refused because too many waited. */
export const RETRY_AFTER_SECONDS = 2;
const OVERLOADED = new RefusedRequest({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Refuses requests on sockets that the framework does not answer: broken HTTP and WebSocket upgrades. */
@Injectable()
export class RawResponses {
  /** Headers of every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  /** Connections whose broken HTTP is being refused: their further input is ignored. */
  readonly #beingRefused = new WeakSet<Duplex>();

  constructor(
    @Inject(Limits) private readonly limits: Pick<Limits, 'ofAddress'>,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'tls' | 'publicBaseUrl'>,
    @Inject(RequestIds) private readonly requestIds: Pick<RequestIds, 'next'>,
  ) {
    this.securityHeaders = securityHeaders(settings.tls, settings.publicBaseUrl);
  }

  async refuseBroken(socket: Duplex, nodeCode: string | undefined): Promise<void> {
    if (this.#beingRefused.has(socket)) return;
    this.#beingRefused.add(socket);
    const address = socket instanceof Socket ? (socket.remoteAddress ?? '') : '';
    const refused = new RefusedRequest(refusalOfBrokenHttp(nodeCode));
    this.refuse(socket, refused, this.requestIds.next(), await this.limits.ofAddress(address));
  }

  /** Answers 503 to a request that nothing was done for, on a connection that stays open unless its body is large. */
  refuseUnread(request: IncomingMessage, response: ServerResponse): void {
    const { refusal } = OVERLOADED;
    const isToClose = leaveUnread(request.socket, request.headers);
    void this.limits.ofAddress(request.socket.remoteAddress ?? '').then((limitHeaders) => {
      const body = errorBody(refusal, this.settings.publicBaseUrl);
      response.writeHead(ERRORS[refusal.code].status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'retry-after': String(retryAfterOf(refusal)),
        'cache-control': 'no-store',
        'x-request-id': this.requestIds.next(),
        ...this.securityHeaders,
        ...limitHeaders,
        ...(isToClose ? { connection: 'close' } : {}),
      });
      response.end(body);
    });
  }

  /** The rate limit headers of a response that no quota counted. */
  limitsOf(address: string): Promise<LimitHeaders> {
    return this.limits.ofAddress(address);
  }

  refuse(socket: Duplex, { refusal, headers }: RefusedRequest, id: string, limitHeaders: LimitHeaders): void {
    const retryAfter = retryAfterOf(refusal);
    const answer = rawAnswer(refusal, this.settings.publicBaseUrl, {
      'x-request-id': id,
      ...this.securityHeaders,
      ...limitHeaders,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...headers,
    });
    refuseRaw(socket, answer);
  }
}
