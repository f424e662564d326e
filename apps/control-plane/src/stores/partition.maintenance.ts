import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions, PartitionMaintainer } from '@countersign/postgres/partitions';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';

/** Creates missing partitions before requests are accepted, then runs the maintainer of partitions. */
@Injectable()
export class PartitionMaintenance {
  #maintainer: PartitionMaintainer | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly settings: ControlPlaneSettings,
    private readonly failures: FailureLog,
  ) {}

  @OnStart('partitions')
  createMissing(): Promise<void> {
    return ensurePartitions(this.database, this.clock.nowMs());
  }

  @OnStart('workers')
  start(): void {
    const { database, clock } = this;
    const { retentionDays } = this.settings;
    const onError = this.failures.about('partition maintainer: creating or detaching partitions');
    this.#maintainer = new PartitionMaintainer({ database, clock, retentionDays, onError });
  }

  @OnStop('consumers')
  async stop(): Promise<void> {
    await this.#maintainer?.stop();
  }
}
