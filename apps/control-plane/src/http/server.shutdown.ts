import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { OnStop } from '../composition/phases.js';

/** Connections with an incomplete request or handshake are closed after this time. */
const HALF_REQUESTS_MS = 4_000;

/** Stops listening and finishes requests. */
@Injectable()
export class ServerShutdown {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'shutdownDelaySeconds'>,
  ) {}

  /**
   * Serves on while load balancers notice that the process is not ready. Each response closes its connection, so that clients
   * that reuse connections leave as well.
   */
  @OnStop('waits')
  async serveOn(): Promise<void> {
    const server: Server = this.host.httpAdapter.getHttpServer<Server>();
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
    });
    await sleep(this.settings.shutdownDelaySeconds * 1_000);
  }

  @OnStop('connections')
  async close(): Promise<void> {
    const { httpAdapter } = this.host;
    const timeout = sleep(HALF_REQUESTS_MS, undefined, { ref: false });
    await Promise.race([httpAdapter.getInstance().close(), timeout]);
    httpAdapter.getHttpServer().closeAllConnections();
  }
}
