import { setTimeout as sleep } from 'node:timers/promises';
import { Resealer } from '@countersign/key-ring';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { RowLease, type Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { KEY_DEPENDANTS } from './key-dependants.js';

const LEASE_NAME = 'key-rotation';
/** Longer than one step takes. */
const LEASE_TTL_MS = 30_000;
/** From the end of one pass over all rows to the start of the next, if it sealed a value again. */
const PASS_EVERY_MS = 300_000;
/** The same after a pass that found nothing: rows of processes with another current version may still come. */
const IDLE_PASS_EVERY_MS = 3_600_000;
/** From one page of rows to the next: 5,000 rows a second at most, and never two pages at a time. */
const STEP_EVERY_MS = 100;

export interface KeyRotationWorkerOptions {
  readonly database: Database;
  readonly keys: ServerKeys;
  /** This process, as the holder of the lease. */
  readonly owner: Uuid;
  /** Receives the number of values that each step sealed again. */
  readonly onRenewed: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Seals stored values again with the current version of the master key while several versions are listed: one process at a
 * time, a page of rows in each step. With one version listed it does nothing. While processes with different current
 * versions run, the holder of the lease decides, and the others' values follow in a later pass.
 */
export class KeyRotationWorker {
  readonly #periodic: PollLoop | null;
  readonly #lease: RowLease;
  readonly #resealer: Resealer;
  #stopped = false;
  #nextPassMs = 0;

  constructor(private readonly options: KeyRotationWorkerOptions) {
    const { database, keys, owner, onError } = options;
    this.#lease = new RowLease(database, LEASE_NAME, owner, LEASE_TTL_MS);
    this.#resealer = new Resealer({ database, keys, columns: KEY_DEPENDANTS.columns, onError });
    if (keys.versions.length === 1) {
      this.#periodic = null;
      return;
    }
    this.#periodic = new PollLoop({ everyMs: PASS_EVERY_MS, work: () => this.#pass(), onError });
    this.#periodic.trigger();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#periodic?.stop();
  }

  /** Ends early when another process holds the lease, or this one stops. */
  async #pass(): Promise<boolean> {
    if (performance.now() < this.#nextPassMs) return false;
    let found = 0;
    try {
      for (;;) {
        if (this.#stopped || !(await this.#lease.acquire())) return false;
        const { renewed, isPassOver } = await this.#resealer.step();
        this.options.onRenewed(renewed);
        found += renewed;
        if (isPassOver) {
          this.#nextPassMs = performance.now() + (found === 0 ? IDLE_PASS_EVERY_MS : 0);
          return false;
        }
        await sleep(STEP_EVERY_MS);
      }
    } finally {
      await this.#lease.release().catch(this.options.onError);
    }
  }
}
