import { Inject, Injectable } from '@nestjs/common';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions, PartitionMaintainer } from '@countersign/postgres/partitions';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../composition/phases.js';

/** Creates partitions. Control planes drop them: the role of gateways has no right to. */
@Injectable()
export class PartitionMaintenance {
  #maintainer: PartitionMaintainer | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Creates missing partitions before it returns: no row can be stored without them. */
  @OnStart('create partitions')
  async start(): Promise<void> {
    const { database, clock } = this;
    await ensurePartitions(database, clock.nowMs());
    const onError = (err: unknown): void => this.logger.warn({ err }, 'partitions could not be created; retrying');
    this.#maintainer = new PartitionMaintainer({ database, clock, retentionDays: null, onError });
  }

  @OnStop('stop maintenance')
  async stop(): Promise<void> {
    await this.#maintainer?.stop();
  }
}
