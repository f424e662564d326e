import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { COUNT_SAMPLE } from './idempotency.sql.js';

/** One key in 64 is counted; must match the predicate of the index idempotency_keys_sample. */
const KEYS_PER_SAMPLE = 64;
/** Maximum age of the cached result. The requests of an account share one read in this time. */
const ANSWER_MAX_AGE_MS = 10_000;

export interface IdempotencyQuotaOptions {
  readonly database: Executor;
  /** Keys that an account may have in one mode at a time. */
  readonly keysPerAccount: number;
  /** Hours for which a key is kept. */
  readonly keptHours: number;
  /** Number of listed versions of the master key: a key has a row under each of them. */
  readonly versions: number;
}

/**
 * Whether an account has reached its quota of idempotency keys. Counts a sample of 1 in 64 keys at most
 * every 10 s, so that the count costs requests nothing: at the default quota of 2,000,000 the standard error is 0.6 %.
 * In the first day after a version of the master key was added, earlier keys have fewer rows, so the quota is larger.
 */
export class IdempotencyQuota {
  private readonly full: RowCache<boolean>;

  constructor(private readonly options: IdempotencyQuotaOptions) {
    this.full = new RowCache({ load: (owner) => this.count(owner), maxAgeMs: ANSWER_MAX_AGE_MS });
  }

  /** The result is at most 10 s old. */
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
