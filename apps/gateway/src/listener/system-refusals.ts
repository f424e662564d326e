import { SystemRefusalStore, type RefusedBinds } from '@countersign/carriers/credentials';
import { Inject, Injectable } from '@nestjs/common';
import { Database, DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { OnStart, OnStop } from '../composition/phases.js';
import { LOGGER } from '../injection/logger.token.js';

/** Interval at which refusals are written, in one statement; none without a refusal. */
const WRITE_INTERVAL_MS = 1_000;
/** System ids with refusals within one interval; those of others are not counted. */
const MAX_SYSTEMS = 1_000;

/** Refused binds by system_id, written so that the admin API shows them with their system. */
@Injectable()
export class SystemRefusals {
  #refused = new Map<string, RefusedBinds>();
  #pollLoop: PollLoop | undefined;

  constructor(
    private readonly store: SystemRefusalStore,
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Counts a refusal in memory. A system_id without a system is left out when the refusals are written. */
  record(systemId: string, { reason, address }: Pick<RefusedBinds, 'reason' | 'address'>): void {
    const times = this.#refused.get(systemId)?.times ?? 0;
    if (times === 0 && this.#refused.size >= MAX_SYSTEMS) return;
    const at = new Date(this.clock.nowMs());
    this.#refused.set(systemId, { systemId, times: times + 1, at, reason, address });
  }

  @OnStart('open the SMPP ports')
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: WRITE_INTERVAL_MS,
      work: () => this.write(),
      onError: (err) => this.logger.debug({ err }, 'listener: refused binds could not be written; retrying'),
    });
  }

  @OnStop('drain batchers')
  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
    await this.write().catch(() => false);
  }

  private async write(): Promise<boolean> {
    if (this.#refused.size === 0) return false;
    const refused = this.#refused;
    this.#refused = new Map();
    try {
      await this.store.addRefusals(this.database, [...refused.values()]);
    } catch (error) {
      this.keep(refused);
      throw error;
    }
    return false;
  }

  /** Adds refusals that were not written to those that came meanwhile. */
  private keep(refused: ReadonlyMap<string, RefusedBinds>): void {
    for (const [systemId, before] of refused) {
      const since = this.#refused.get(systemId);
      const times = before.times + (since?.times ?? 0);
      this.#refused.set(systemId, { ...(since ?? before), times });
    }
  }
}
