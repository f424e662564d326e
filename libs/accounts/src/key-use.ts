import { type Executor, Periodic, type Uuid } from '@countersign/postgres';
import { MARK_KEYS_USED, type KeyTable } from './key-use.sql.js';

/** How far `lastUsedAt` may lag behind. */
const FLUSH_INTERVAL_MS = 10_000;

export interface KeyUseOptions {
  readonly database: Executor;
  /** `api_keys` when left out. */
  readonly table?: KeyTable;
  /** Hears of a write that failed; it is tried again with the next. */
  readonly onError: (error: unknown) => void;
  readonly flushEveryMs?: number;
}

/**
 * When keys were last used, to within ten seconds: noted in memory by every request, written by one statement for all. A
 * process that dies forgets its last ten seconds, which decide about nothing.
 */
export class KeyUse {
  readonly #options: KeyUseOptions;
  readonly #periodic: Periodic;
  #used = new Set<Uuid>();

  constructor(options: KeyUseOptions) {
    this.#options = options;
    this.#periodic = new Periodic({
      everyMs: options.flushEveryMs ?? FLUSH_INTERVAL_MS,
      work: async () => {
        await this.#flush();
        return false;
      },
      onError: options.onError,
    });
  }

  note(keyId: Uuid): void {
    this.#used.add(keyId);
  }

  /** Writes what is noted, once, and then no more. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.#flush().catch(this.#options.onError);
  }

  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Set();
    try {
      await this.#options.database.query(MARK_KEYS_USED[this.#options.table ?? 'api_keys'], [[...used]]);
    } catch (error) {
      for (const keyId of used) this.#used.add(keyId);
      throw error;
    }
  }
}
