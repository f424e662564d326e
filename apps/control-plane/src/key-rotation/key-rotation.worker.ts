import { setTimeout as sleep } from 'node:timers/promises';
import { Resealer } from '@countersign/key-ring';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { RowLease, type Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
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

export interface KeyRotationWorkerOptions {
  readonly database: Database;
  readonly keys: ServerKeys;
  /** Id of this process as the holder of the lease. */
  readonly owner: Uuid;
  /** Called with the number of values that each step resealed. */
  readonly onRenewed: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Reseals stored values with the current version of the master key while several versions are listed: one process at a
 * time, a page of rows in each step. With one version listed it does nothing. While processes with different current
 * versions run, the lease holder's version applies, and values of the others are resealed in a later pass.
 */
export class KeyRotationWorker {
  readonly #pollLoop: PollLoop | null;
  readonly #lease: RowLease;
  readonly #resealer: Resealer;
  #stopped = false;
  #nextPassMs = 0;

  constructor(private readonly options: KeyRotationWorkerOptions) {
    const { database, keys, owner, onError } = options;
    this.#lease = new RowLease(database, LEASE_NAME, owner, LEASE_TTL_MS);
    this.#resealer = new Resealer({ database, keys, columns: KEY_DEPENDANTS.columns, onError });
    if (keys.versions.length === 1) {
      this.#pollLoop = null;
      return;
    }
    this.#pollLoop = new PollLoop({ everyMs: PASS_EVERY_MS, work: () => this.#runPass(), onError });
    this.#pollLoop.trigger();
  }

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
        const { renewed, isPassOver } = await this.#resealer.step();
        this.options.onRenewed(renewed);
        resealed += renewed;
        if (isPassOver) {
          this.#nextPassMs = performance.now() + (resealed === 0 ? IDLE_PASS_EVERY_MS : 0);
          return false;
        }
        await sleep(STEP_EVERY_MS);
      }
    } finally {
      await this.#lease.release().catch(this.options.onError);
    }
  }
}
