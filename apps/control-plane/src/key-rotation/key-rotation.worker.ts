import { setTimeout as sleep } from 'node:timers/promises';
import { recordRotationEnd, Resealer } from '@countersign/key-ring';
import { SealError, ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock, RowLease } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import { KEY_DEPENDANTS } from './key-dependants.js';

const LEASE_NAME = 'key-rotation';
/** Must exceed the duration of one step. */
const LEASE_TTL_MS = 30_000;
/** From the end of one pass over all rows to the start of the next, if the pass resealed a value. */
const PASS_EVERY_MS = 300_000;
/** The same after a pass without resealed values: processes with another current version may still write rows. */
const IDLE_PASS_EVERY_MS = 3_600_000;
/** From one page of rows to the next: at most 5,000 rows per second, and never two pages concurrently. */
const STEP_EVERY_MS = 100;

/**
 * Reseals stored values with the current version of the master key while several versions are listed: one process at a
 * time, a page of rows in each step. With one version listed it does nothing. While processes with different current
 * versions run, the lease holder's version applies, and values of the others are resealed in a later pass. No position is
 * stored: after a restart the next lease holder starts a pass at the first column and skips values of the current version.
 */
@Injectable()
export class KeyRotationWorker {
  readonly #onError: (error: unknown) => void;
  #pollLoop: PollLoop | undefined;
  readonly #lease: RowLease;
  readonly #resealer: Resealer;
  #stopped = false;
  #nextPassMs = 0;
  /** Values of this pass that did not open, by column. */
  #unopened = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly keys: ServerKeys,
    clock: DatabaseClock,
    @Inject(ControlPlaneMetrics)
    private readonly metrics: Pick<ControlPlaneMetrics, 'countRenewedValues' | 'countUnopenedValue'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.#onError = failures.about('key rotation worker: resealing values');
    this.#lease = new RowLease(database, LEASE_NAME, clock.newId(), LEASE_TTL_MS);
    this.#resealer = new Resealer({ database, keys, columns: KEY_DEPENDANTS.columns, onError: this.#failed });
  }

  @OnStart('workers')
  start(): void {
    if (this.keys.versions.length === 1) return;
    this.#pollLoop = new PollLoop({ everyMs: PASS_EVERY_MS, work: () => this.#runPass(), onError: this.#onError });
    this.#pollLoop.trigger();
  }

  @OnStop('maintenance')
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#pollLoop?.stop();
  }

  /** Ends early if another process holds the lease or this process stops. */
  async #runPass(): Promise<boolean> {
    if (performance.now() < this.#nextPassMs) return false;
    let resealed = 0;
    try {
      for (;;) {
        if (this.#stopped || !(await this.#lease.acquire())) return false;
        const { renewed, isPassOver, opened } = await this.#resealer.step();
        this.metrics.countRenewedValues(renewed);
        resealed += renewed;
        if (isPassOver) {
          await this.#finishPass(opened);
          this.#nextPassMs = performance.now() + (resealed === 0 ? IDLE_PASS_EVERY_MS : 0);
          return false;
        }
        await sleep(STEP_EVERY_MS);
      }
    } finally {
      await this.#lease.release().catch(this.#onError);
    }
  }

  /** One line for each column: the number of such values is not bounded. */
  async #finishPass(opened: ReadonlySet<number>): Promise<void> {
    for (const [column, count] of this.#unopened) {
      this.#onError(
        new Error(`${count} values of ${column} do not open with the version that they name, or it is not listed`),
      );
    }
    this.#unopened = new Map();
    await recordRotationEnd(this.database, { keys: this.keys, dependants: KEY_DEPENDANTS, opened });
  }

  readonly #failed = (error: unknown, column: string): void => {
    if (!(error instanceof SealError)) {
      this.#onError(error);
      return;
    }
    this.#unopened.set(column, (this.#unopened.get(column) ?? 0) + 1);
    this.metrics.countUnopenedValue();
  };
}
