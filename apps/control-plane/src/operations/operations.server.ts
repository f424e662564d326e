import { ControlPlaneSettings } from '@countersign/settings';
import { Metrics, OpsServer } from '@countersign/telemetry';
import { Database, DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { EventQueue } from './event.queue.js';
import { readinessChecks } from './readiness.js';

/** The operations port of the control plane. Unready from the beginning of the stop, it closes last. */
@Injectable()
export class OperationsServer {
  readonly #server: OpsServer;

  constructor(
    { opsHost: host, opsPort: port }: ControlPlaneSettings,
    metrics: Metrics,
    database: Database,
    clock: DatabaseClock,
    queue: EventQueue,
  ) {
    const checks = readinessChecks({ database, clock, pingQueue: () => queue.ping() });
    this.#server = new OpsServer({ host, port, metrics, checks });
  }

  @OnStart('operations')
  async listen(): Promise<void> {
    await this.#server.listen();
  }

  @OnStop('waits')
  drain(): void {
    this.#server.drain();
  }

  @OnStop('operations')
  close(): Promise<void> {
    return this.#server.close();
  }
}
