import { Periodic, type DatabaseClock, type Executor } from '@countersign/postgres';
import type { OnModuleDestroy } from '@nestjs/common';
import type { GuardStore } from './guard.store.js';

const SWEEP_INTERVAL_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

export interface CountersSweeperOptions {
  readonly store: Pick<GuardStore, 'purge'>;
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly retentionDays: number;
  readonly onError: (error: unknown) => void;
}

/** Forgets what the guard no longer needs. Nobody waits for it: a window that is over begins anew with its next send. */
export class CountersSweeper implements OnModuleDestroy {
  private readonly periodic: Periodic;

  constructor({ store, database, clock, retentionDays, onError }: CountersSweeperOptions) {
    this.periodic = new Periodic({
      everyMs: SWEEP_INTERVAL_MS,
      work: () => store.purge(database, new Date(clock.nowMs() - retentionDays * DAY_MS)),
      onError,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.periodic.stop();
  }
}
