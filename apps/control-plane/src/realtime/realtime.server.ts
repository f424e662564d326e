import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { OnStart, OnStop } from '../composition/phases.js';
import { RealtimeConnections } from './realtime-connections.js';
import { UpgradeHandler } from './upgrade.handler.js';

/** Starts the WebSockets on the HTTP server and closes them with it, because the server waits for its connections. */
@Injectable()
export class RealtimeServer {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly upgrades: UpgradeHandler,
    private readonly connections: RealtimeConnections,
  ) {}

  @OnStart('requests')
  start(): void {
    const server = this.host.httpAdapter.getHttpServer();
    server.on('upgrade', (request, socket, head) => this.upgrades.handle(request, socket, head));
    this.connections.startHeartbeats();
  }

  @OnStop('connections')
  close(): Promise<void> {
    return this.connections.close();
  }
}
