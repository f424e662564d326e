import type { Uuid } from '@countersign/ids';
import { ServerKeys } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { COUNT_SAMPLE } from './idempotency.sql.js';
import { KEPT_HOURS } from './idempotency.store.js';

/** One key in 64 is counted; must match the predicate of the index idempotency_keys_sample. */
const KEYS_PER_SAMPLE = 64;
/** Maximum age of the cached result. The requests of an account share one read in this time. */
const ANSWER_MAX_AGE_MS = 10_000;

/**
 * Whether an account has reached its quota of idempotency keys. Counts a sample of 1 in 64 keys at most
 * every 10 s, so that the count costs requests nothing: at the default quota of 2,000,000 the standard error is 0.6 %.
 * In the first day after a version of the master key was added, earlier keys have fewer rows, so the quota is larger.
 */
@Injectable()
export class IdempotencyQuota {
  private readonly full: RowCache<boolean>;

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(ServerKeys) private readonly keys: Pick<ServerKeys, 'versions'>,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'idempotencyKeysPerAccount'>,
  ) {
    this.full = new RowCache({ load: (owner) => this.count(owner), maxAgeMs: ANSWER_MAX_AGE_MS });
  }

  /** The result is at most 10 s old. */
  async isFull(accountId: Uuid, test: boolean): Promise<boolean> {
    return (await this.full.get(ownerOf(accountId, test))) === true;
  }

  private async count(owner: string): Promise<boolean> {
    const { idempotencyKeysPerAccount: keysPerAccount } = this.settings;
    // A key has a row under each listed version of the master key.
    const versions = this.keys.versions.length;
    const [accountId, mode] = owner.split(' ');
    const limit = Math.max(1, Math.round((keysPerAccount * versions) / KEYS_PER_SAMPLE));
    const [row] = await this.database.query<{ keys: number }>(COUNT_SAMPLE, [
      accountId,
      mode === 'test',
      KEPT_HOURS,
      limit,
    ]);
    return (row?.keys ?? 0) >= limit;
  }
}

const ownerOf = (accountId: Uuid, test: boolean): string => `${accountId} ${test ? 'test' : 'live'}`;
