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

/** Refuses requests that the framework does not answer: broken HTTP, WebSocket upgrades, and those that did not begin. */
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

  /** Refuses a request that was not given to the framework; its connection stays open unless its body is large. */
  async refuseUnread(request: IncomingMessage, response: ServerResponse, refused: RefusedRequest): Promise<void> {
    const isToClose = leaveUnread(request.socket, request.headers);
    const limitHeaders = await this.limits.ofAddress(request.socket.remoteAddress ?? '');
    const body = errorBody(refused.refusal, this.settings.publicBaseUrl);
    response.writeHead(ERRORS[refused.refusal.code].status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...this.headersOf(refused, this.requestIds.next(), limitHeaders),
      ...(isToClose ? { connection: 'close' } : {}),
    });
    response.end(body);
  }

  /** The rate limit headers of a response that no quota counted. */
  limitsOf(address: string): Promise<LimitHeaders> {
    return this.limits.ofAddress(address);
  }

  refuse(socket: Duplex, refused: RefusedRequest, id: string, limitHeaders: LimitHeaders): void {
    const headers = this.headersOf(refused, id, limitHeaders);
    refuseRaw(socket, rawAnswer(refused.refusal, this.settings.publicBaseUrl, headers));
  }

  private headersOf(
    { refusal, headers }: RefusedRequest,
    id: string,
    limitHeaders: LimitHeaders,
  ): Record<string, string> {
    const retryAfter = retryAfterOf(refusal);
    return {
      'x-request-id': id,
      ...this.securityHeaders,
      ...limitHeaders,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...headers,
    };
  }
}
