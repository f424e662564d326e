import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { OnStop } from '../composition/phases.js';

/** Connections with an incomplete request or handshake are closed after this time. */
const HALF_REQUESTS_MS = 4_000;

/** Stops listening and finishes requests. */
@Injectable()
export class ServerShutdown {
  constructor(private readonly host: HttpAdapterHost<FastifyAdapter>) {}

  @OnStop('connections')
  async close(): Promise<void> {
    const { httpAdapter } = this.host;
    const timeout = sleep(HALF_REQUESTS_MS, undefined, { ref: false });
    await Promise.race([httpAdapter.getInstance().close(), timeout]);
    httpAdapter.getHttpServer().closeAllConnections();
  }
}
