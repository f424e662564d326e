import { SystemConnectionStore } from '@countersign/carriers/leases';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { SystemConnections } from './system-connections.js';
import { SystemLinks } from './system-links.js';

/** Interval at which the rows are updated; a bind or an end is written at once. */
const SYNC_INTERVAL_MS = 5_000;

/** Writes this gateway's system connections and reads those of other gateways, one statement each per interval. */
@Injectable()
export class ConnectionRegistry {
  #pollLoop: PollLoop | undefined;

  constructor(
    private readonly store: SystemConnectionStore,
    private readonly database: Database,
    private readonly links: SystemLinks,
    private readonly connections: SystemConnections,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    links.onChange(() => this.#pollLoop?.trigger());
  }

  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: SYNC_INTERVAL_MS,
      work: () => this.sync(),
      onError: (error) =>
        this.logger.debug({ err: error }, 'connection registry: system connections could not be written; retrying'),
    });
  }

  /** Deletes the rows, best effort: the connections of a gateway that no longer reports are not counted. */
  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
    await this.sync().catch(() => false);
  }

  private async sync(): Promise<boolean> {
    await this.store.replaceConnections(this.database, this.links.boundConnections());
    this.connections.setConnectionsElsewhere(await this.store.countElsewhere(this.database));
    return false;
  }
}
