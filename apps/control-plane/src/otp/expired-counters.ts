import type { Executor } from '@countersign/postgres';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { ApprovalStore } from '../guard/approval.store.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { GuardStore } from '../guard/guard.store.js';
import { DAY_MS } from '../guard/traffic-slots.js';

/** Rows of one table that one run deletes at most. */
const MAX_PURGED = 1_000;

/** The counters that the guard no longer needs. */
@Injectable()
export class ExpiredCounters {
  constructor(
    private readonly store: GuardStore,
    private readonly approvals: ApprovalStore,
    private readonly checks: CodeChecks,
    private readonly settings: ControlPlaneSettings,
  ) {}

  /** Deletes counters of every kind. Returns whether more may be left. */
  async purge(db: Executor, nowMs: number): Promise<boolean> {
    const counters = await this.store.purge(db, new Date(nowMs - this.settings.retentionDays * DAY_MS));
    const approvalRows = await this.approvals.purge(db, nowMs, MAX_PURGED);
    return (await this.checks.purge(db, MAX_PURGED)) || counters || approvalRows;
  }
}
