import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { FAILING_LONG, FIND_FAILING, CLEAR_FAILING, RECORD_FAILURES, RECORD_SUCCESSES } from './default-webhook.sql.js';

/** A default URL is disabled after this many days of failures only (contract, Webhooks). */
export const DAYS_OF_FAILURE = 5;

/** The result of a POST to a URL that may be its account's default. */
export interface DeliveryOutcome {
  readonly accountId: Uuid;
  readonly url: string;
  readonly at: Date;
}

/** A default URL that has failed for long. */
export interface FailingDefault {
  readonly url: string;
  readonly since: Date;
}

/** Tracks how long accounts' default URLs have only failed. Results of other URLs are ignored. */
export class DefaultWebhookStore {
  /** Returns the accounts whose default URL has failed for long. */
  async recordFailures(db: Executor, outcomes: readonly DeliveryOutcome[]): Promise<Uuid[]> {
    if (outcomes.length === 0) return [];
    const values = [
      outcomes.map((each) => each.accountId),
      outcomes.map(({ url }) => url),
      outcomes.map(({ at }) => at),
    ];
    await db.query(RECORD_FAILURES, values);
    const failing = await db.query<{ id: Uuid }>(FAILING_LONG, [...values, DAYS_OF_FAILURE]);
    return [...new Set(failing.map(({ id }) => id))];
  }

  async recordSuccesses(db: Executor, outcomes: readonly Omit<DeliveryOutcome, 'at'>[]): Promise<void> {
    if (outcomes.length === 0) return;
    await db.query(RECORD_SUCCESSES, [outcomes.map((each) => each.accountId), outcomes.map(({ url }) => url)]);
  }

  /** Null when it does not fail, or not for long. */
  async findFailing(db: Executor, accountId: Uuid): Promise<FailingDefault | null> {
    const [failing] = await db.query<FailingDefault>(FIND_FAILING, [accountId, DAYS_OF_FAILURE]);
    return failing ?? null;
  }

  /** Clears the failure time of a URL that has accepted a delivery. */
  async clearFailing(db: Executor, accountId: Uuid, { url, since }: FailingDefault): Promise<void> {
    await db.query(CLEAR_FAILING, [accountId, url, since]);
  }
}
