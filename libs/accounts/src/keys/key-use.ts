import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { MARK_KEYS_USED, RENEW_DIGESTS, type KeyTable } from './key-use.sql.js';
import type { DigestRenewals, OutdatedDigest } from './outdated-digest.js';

/** Maximum delay of `lastUsedAt`. */
const FLUSH_INTERVAL_MS = 10_000;

export interface KeyUseOptions {
  readonly database: Executor;
  /** Default `api_keys`. */
  readonly table?: KeyTable;
  /** Called for a failed write; it is retried with the next one. */
  readonly onError: (error: unknown) => void;
  readonly flushEveryMs?: number;
}

/**
 * Times of last use of keys, to within ten seconds: recorded in memory by every request, written by one statement for
 * all. A process that crashes loses its last ten seconds, on which nothing depends. Digests under another version of
 * the master key are renewed in the same interval: during a rotation, processes with different current versions each
 * write their own, and all of them find either.
 */
export class KeyUse implements DigestRenewals {
  readonly #options: KeyUseOptions;
  readonly #table: KeyTable;
  readonly #pollLoop: PollLoop;
  #used = new Set<Uuid>();
  readonly #outdated = new Map<Uuid, OutdatedDigest>();

  constructor(options: KeyUseOptions) {
    this.#options = options;
    this.#table = options.table ?? 'api_keys';
    this.#pollLoop = new PollLoop({
      everyMs: options.flushEveryMs ?? FLUSH_INTERVAL_MS,
      work: async () => {
        await this.#flush();
        return false;
      },
      onError: options.onError,
    });
  }

  recordUse(keyId: Uuid): void {
    this.#used.add(keyId);
  }

  /** Requests the renewal of a key's digest. */
  requestRenewal(outdated: OutdatedDigest): void {
    this.#outdated.set(outdated.keyId, outdated);
  }

  /** Writes recorded uses once, then no more. */
  async stop(): Promise<void> {
    await this.#pollLoop.stop();
    await this.#flush().catch(this.#options.onError);
  }

  async #flush(): Promise<void> {
    await this.#markUsed();
    await this.#renewDigests();
  }

  async #markUsed(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Set();
    try {
      await this.#options.database.query(MARK_KEYS_USED[this.#table], [[...used]]);
    } catch (error) {
      for (const keyId of used) this.#used.add(keyId);
      throw error;
    }
  }

  /** A digest that cannot be written is recorded again at the next use. */
  async #renewDigests(): Promise<void> {
    const outdated = [...this.#outdated.values()];
    const [first] = outdated;
    if (first === undefined) return;
    this.#outdated.clear();
    await this.#options.database.query(RENEW_DIGESTS[this.#table], [
      outdated.map(({ keyId }) => keyId),
      outdated.map(({ stored }) => stored),
      outdated.map(({ current }) => current),
      first.currentVersion,
    ]);
  }
}
