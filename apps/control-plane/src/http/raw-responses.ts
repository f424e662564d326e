import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { RefusedRequest, retryAfterOf } from './errors.js';
import type { LimitHeaders } from './limit-headers.js';
import { Limits } from './limits.js';
import { rawAnswer, refusalOfBrokenHttp, refuseRaw } from './raw-refusal.js';
import { RequestIds } from './request-ids.js';
import { securityHeaders } from './security-headers.js';

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
