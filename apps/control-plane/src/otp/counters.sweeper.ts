import type { DatabaseClock, Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { OnModuleDestroy } from '@nestjs/common';
import type { ApprovalStore } from '../guard/approval.store.js';
import type { CodeChecks } from '../guard/code-checks.store.js';
import type { GuardStore } from '../guard/guard.store.js';
import { DAY_MS } from '../guard/traffic-slots.js';

const SWEEP_INTERVAL_MS = 10 * 60_000;
/** Rows of one table that one run deletes at most. If more are left, the next run follows at once. */
const MAX_PURGED = 1_000;

export interface CountersSweeperOptions {
  readonly store: Pick<GuardStore, 'purge'>;
  readonly approvals: Pick<ApprovalStore, 'purge'>;
  readonly checks: Pick<CodeChecks, 'purge'>;
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly retentionDays: number;
  readonly onError: (error: unknown) => void;
}

/** Deletes counters that the guard no longer needs. No request depends on it: the next send restarts an expired window. */
export class CountersSweeper implements OnModuleDestroy {
  private readonly pollLoop: PollLoop;

  constructor({ store, approvals, checks, database, clock, retentionDays, onError }: CountersSweeperOptions) {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => {
        const nowMs = clock.nowMs();
        const counters = await store.purge(database, new Date(nowMs - retentionDays * DAY_MS));
        const approvalRows = await approvals.purge(database, nowMs, MAX_PURGED);
        return (await checks.purge(database, MAX_PURGED)) || counters || approvalRows;
      },
      onError,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.pollLoop.stop();
  }
}
