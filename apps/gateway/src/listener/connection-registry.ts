import type { SystemConnection, SystemConnectionStore } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';

/** Interval at which the rows are updated; a bind or an end is written at once. */
const SYNC_INTERVAL_MS = 5_000;

export interface ConnectionRegistryOptions {
  readonly store: SystemConnectionStore;
  readonly database: Database;
  /** The connections bound at this gateway. */
  readonly connections: () => readonly SystemConnection[];
  /** Receives the number of connections of each system at other gateways. */
  readonly onElsewhere: (elsewhere: ReadonlyMap<Uuid, number>) => void;
  readonly logger: Logger;
}

/** Writes this gateway's system connections and reads those of other gateways, one statement each per interval. */
export class ConnectionRegistry {
  readonly #pollLoop: PollLoop;

  constructor(private readonly o: ConnectionRegistryOptions) {
    this.#pollLoop = new PollLoop({
      everyMs: SYNC_INTERVAL_MS,
      work: () => this.sync(),
      onError: (error) =>
        o.logger.debug({ err: error }, 'connection registry: system connections could not be written; retrying'),
    });
  }

  /** Writes at once, after a bind or an end. */
  trigger(): void {
    this.#pollLoop.trigger();
  }

  /** Deletes the rows, best effort: the connections of a gateway that no longer reports are not counted. */
  async stop(): Promise<void> {
    await this.#pollLoop.stop();
    await this.sync().catch(() => false);
  }

  private async sync(): Promise<boolean> {
    await this.o.store.replaceConnections(this.o.database, this.o.connections());
    this.o.onElsewhere(await this.o.store.countElsewhere(this.o.database));
    return false;
  }
}
