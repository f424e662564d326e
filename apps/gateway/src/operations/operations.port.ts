import { Injectable } from '@nestjs/common';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, OpsServer } from '@countersign/telemetry';
import { OnStart, OnStop } from '../composition/phases.js';
import { GatewayReadiness } from './gateway-readiness.js';

/** The port of readiness and metrics. It is open until the database is closed, so that a stop can be observed. */
@Injectable()
export class OperationsPort {
  readonly #server: OpsServer;

  constructor({ opsHost: host, opsPort: port }: GatewaySettings, metrics: Metrics, { checks }: GatewayReadiness) {
    this.#server = new OpsServer({ host, port, metrics, checks });
  }

  @OnStart('open the operations port')
  async listen(): Promise<void> {
    await this.#server.listen();
  }

  /** Not ready from now on. */
  @OnStop('stop accepting')
  drain(): void {
    this.#server.drain();
  }

  @OnStop('close operations')
  async close(): Promise<void> {
    await this.#server.close();
  }
}
