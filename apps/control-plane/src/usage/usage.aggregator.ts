import { Database, DatabaseClock, RowLease, type Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { MAX_XIDS } from './usage-fold.sql.js';
import { UsageFoldStore } from './usage-fold.store.js';

/** A report reads the changes of about this time one by one. */
const FOLD_INTERVAL_MS = 2_000;
/** From one look for settled minutes to the next. */
const SETTLE_INTERVAL_MS = 30_000;
const LEASE_TTL_MS = 15_000;

/**
 * Folds usage in one process of all: every few seconds the changes of the transactions that have ended, and each minute once
 * its sessions can no longer change. The lease saves work only; the store adds each change once, whoever folds it.
 */
@Injectable()
export class UsageAggregator {
  readonly #pollLoop: PollLoop;
  readonly #lease: RowLease;
  #settleAtMs = 0;
  /** False until `begin` has seen a session: before, each run looks for one, so that the first is in the overview at once. */
  #hasBegun = false;
  #maxXids = MAX_XIDS;

  constructor(
    @Inject(Database) database: Executor,
    @Inject(DatabaseClock) clock: Pick<DatabaseClock, 'newId'>,
    private readonly store: UsageFoldStore,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'retentionDays'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.#lease = new RowLease(database, 'usage', clock.newId(), LEASE_TTL_MS);
    this.#pollLoop = new PollLoop({
      everyMs: FOLD_INTERVAL_MS,
      work: () => this.foldDue(),
      onError: failures.about('folding usage'),
    });
  }

  /** Folds changes, then minutes that are due. Returns whether more are due; false if another process folds. */
  async foldDue(): Promise<boolean> {
    if (!(await this.#lease.acquire())) return false;
    const mayBeSettled = performance.now() >= this.#settleAtMs;
    if (mayBeSettled || !this.#hasBegun) this.#hasBegun = await this.store.begin();
    const moreChanges = await this.#foldChanges();
    if (!mayBeSettled) return moreChanges;
    const moreMinutes = await this.store.settleNext(this.settings.retentionDays);
    if (!moreMinutes) this.#settleAtMs = performance.now() + SETTLE_INTERVAL_MS;
    return moreChanges || moreMinutes;
  }

  /** Folds fewer transactions after a failure: those of a burst could take longer than a statement may. */
  async #foldChanges(): Promise<boolean> {
    try {
      const more = await this.store.foldChanges(this.#maxXids);
      this.#maxXids = Math.min(MAX_XIDS, this.#maxXids * 2);
      return more;
    } catch (error) {
      this.#maxXids = Math.max(1, Math.floor(this.#maxXids / 2));
      throw error;
    }
  }

  @OnStop('maintenance')
  async stop(): Promise<void> {
    await this.#pollLoop.stop();
    await this.#lease.release();
  }
}
