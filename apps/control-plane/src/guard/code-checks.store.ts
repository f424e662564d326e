import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Batcher, Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import type { CodeCheck } from '@countersign/session';
import { DEFAULT_ATTEMPT_LIMIT } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import { phoneDigest } from './approved-phones.js';
import { ADD_CHECKS, PURGE_CHECKS, READ_CHECKS } from './code-checks.sql.js';
import { ATTEMPTS_UNDER_GUESSING, GUESSING_PHONES, isGuessingSuspected, type CheckTally } from './guard-rules.js';
import { HOUR_MS, MINUTE_MS } from './traffic-slots.js';

/** The age at which a cached limit is read again. */
const ANSWER_MAX_AGE_MS = 1_000;
const MAX_BATCH = 1_000;
const MAX_QUEUED = 10_000;

/**
 * Counts compared codes of live sessions by account, and limits the wrong codes of new sessions.
 *
 * Phones are digests under the current version of the master key only. While two processes have different current
 * versions, a phone with checks in both counts twice for an hour: this can only make the limit of new sessions stricter,
 * and the number of checks and the share of failures stay exact.
 */
@Injectable()
export class CodeChecks {
  private readonly checkBatches: Batcher<CodeCheck, undefined>;
  private readonly limits: RowCache<number>;

  private readonly onError: (error: unknown) => void;

  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly keys: ServerKeys,
    private readonly metrics: ControlPlaneMetrics,
    failures: FailureLog,
  ) {
    this.onError = failures.about('counting checks of codes');
    this.checkBatches = new Batcher({
      name: 'otp.checks',
      keysOf: () => [],
      // No caller waits for a count, so one transaction at a time gives larger batches.
      limits: { maxBatch: MAX_BATCH, maxInFlight: 1, maxQueued: MAX_QUEUED },
      run: (checks) => this.writeChecks(checks),
    });
    this.limits = new RowCache({ load: (accountId) => this.readLimit(accountId), maxAgeMs: ANSWER_MAX_AGE_MS });
  }

  /** Queues checks to be counted, without waiting. A check is not counted if the queue is full or the write fails. */
  enqueue(checks: readonly CodeCheck[]): void {
    this.metrics.countChecks(checks);
    for (const check of checks) {
      if (check.result !== 'too_many') this.checkBatches.add(check).catch(this.onError);
    }
  }

  /**
   * Wrong codes that a session created now may have. The value is at most 1 s old: creates of an account share one read.
   */
  async attemptLimit(accountId: Uuid): Promise<number> {
    return (await this.limits.get(accountId)) ?? DEFAULT_ATTEMPT_LIMIT;
  }

  /** Deletes minutes that no window reaches any more. Returns whether more may be left. */
  async purge(db: Executor, limit: number): Promise<boolean> {
    return (await db.query(PURGE_CHECKS, [this.firstMinute(), limit])).length === limit;
  }

  /** Waits until every check is counted. */
  async drain(): Promise<void> {
    await this.checkBatches.drain();
  }

  private async readLimit(accountId: Uuid): Promise<number> {
    const [tally] = await this.database.query<CheckTally>(READ_CHECKS, [accountId, this.firstMinute()]);
    return tally !== undefined && isGuessingSuspected(tally) ? ATTEMPTS_UNDER_GUESSING : DEFAULT_ATTEMPT_LIMIT;
  }

  private async writeChecks(checks: readonly CodeCheck[]): Promise<undefined[]> {
    const minute = minuteOf(this.clock.nowMs());
    const accounts = new Map<Uuid, { checks: number; failed: number }>();
    const phones = new Map<string, { accountId: Uuid; digest: Buffer }>();
    for (const { accountId, phone, result } of checks) {
      const known = accounts.get(accountId) ?? { checks: 0, failed: 0 };
      const failed = known.failed + (result === 'wrong' ? 1 : 0);
      accounts.set(accountId, { checks: known.checks + 1, failed });
      phones.set(`${accountId}:${phone}`, { accountId, digest: phoneDigest(this.keys, phone) });
    }
    const tallies = [...accounts.values()];
    const seen = [...phones.values()];
    await this.database.query(ADD_CHECKS, [
      [...accounts.keys()],
      tallies.map(() => minute),
      tallies.map((each) => each.checks),
      tallies.map(({ failed }) => failed),
      seen.map(({ accountId }) => accountId),
      seen.map(() => minute),
      seen.map(({ digest }) => digest),
      GUESSING_PHONES,
    ]);
    return checks.map(() => undefined);
  }

  private firstMinute(): Date {
    return minuteOf(this.clock.nowMs() - HOUR_MS);
  }
}

const minuteOf = (atMs: number): Date => new Date(atMs - (atMs % MINUTE_MS));
