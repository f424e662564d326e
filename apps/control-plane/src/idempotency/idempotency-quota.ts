import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { COUNT_SAMPLE } from './idempotency.sql.js';

/** One key in 64 is counted; must match the predicate of the index idempotency_keys_sample. */
const KEYS_PER_SAMPLE = 64;
/** Maximum age of the cached result: the requests of an account share one read in that time. */
const ANSWER_MAX_AGE_MS = 10_000;

export interface IdempotencyQuotaOptions {
  readonly database: Executor;
  /** Keys that an account may have in one mode at a time. */
  readonly keysPerAccount: number;
  /** Hours that a key is kept. */
  readonly keptHours: number;
  /** Versions of the master key that are listed: a key has a row under each of them. */
  readonly versions: number;
}

/**
 * Whether an account has reached its quota of idempotency keys. Counted by a sample of 1 in 64 keys and at most
 * every 10 s, so that no request pays for it: at the default quota of 2,000,000 the standard error is 0.6 %.
 * In the first day after a version of the master key was added, earlier keys have fewer rows: the quota is then larger.
 */
export class IdempotencyQuota {
  private readonly full: RowCache<boolean>;

  constructor(private readonly options: IdempotencyQuotaOptions) {
    this.full = new RowCache({ load: (owner) => this.count(owner), maxAgeMs: ANSWER_MAX_AGE_MS });
  }

  /** At most 10 s old. */
  async isFull(accountId: Uuid, test: boolean): Promise<boolean> {
    return (await this.full.get(ownerOf(accountId, test))) === true;
  }

  private async count(owner: string): Promise<boolean> {
    const { database, keysPerAccount, keptHours, versions } = this.options;
    const [accountId, mode] = owner.split(' ');
    const limit = Math.max(1, Math.round((keysPerAccount * versions) / KEYS_PER_SAMPLE));
    const [row] = await database.query<{ keys: number }>(COUNT_SAMPLE, [accountId, mode === 'test', keptHours, limit]);
    return (row?.keys ?? 0) >= limit;
  }
}

const ownerOf = (accountId: Uuid, test: boolean): string => `${accountId} ${test ? 'test' : 'live'}`;
