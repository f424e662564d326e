import { Inject, Injectable } from '@nestjs/common';
import { Database, DatabaseClock } from '@countersign/postgres';
import { warnOfRoleFaults } from '@countersign/postgres/schema';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../composition/phases.js';

/** The connection pool and the clock of the database. */
@Injectable()
export class DatabaseConnection {
  constructor(
    private readonly settings: GatewaySettings,
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @OnStart('check the database role')
  async checkRole(): Promise<void> {
    if (this.settings.production)
      await warnOfRoleFaults(this.database, 'gateway', (message) => this.logger.warn(message));
  }

  @OnStop('close the database')
  async close(): Promise<void> {
    await this.clock.stop();
    await this.database.close();
  }
}
