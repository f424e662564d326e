import type { SystemConnection, SystemConnectionStore } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';

/** How often the rows are brought up to date; who binds or goes is written at once. */
const BEAT_MS = 5_000;

export interface ConnectionRegistryOptions {
  readonly store: SystemConnectionStore;
  readonly database: Database;
  /** The connections that are bound here now. */
  readonly connections: () => readonly SystemConnection[];
  /** Hears how many connections each system has at other gateways. */
  readonly onElsewhere: (elsewhere: ReadonlyMap<Uuid, number>) => void;
  readonly logger: Logger;
}

/** Tells the other processes who is connected here, and hears who is connected there: one write and one read a beat. */
export class ConnectionRegistry {
  readonly #periodic: PollLoop;

  constructor(private readonly o: ConnectionRegistryOptions) {
    this.#periodic = new PollLoop({
      everyMs: BEAT_MS,
      work: () => this.beat(),
      onError: (error) => o.logger.debug({ err: error }, 'the connections of systems could not be written'),
    });
  }

  /** Someone came or went. */
  trigger(): void {
    this.#periodic.trigger();
  }

  /** Leaves no row behind; best effort, since a gateway that is not seen any more has no connections either. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.beat().catch(() => false);
  }

  private async beat(): Promise<boolean> {
    await this.o.store.replaceConnections(this.o.database, this.o.connections());
    this.o.onElsewhere(await this.o.store.countElsewhere(this.o.database));
    return false;
  }
}
