import { isTestMode, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import { ERRORS, refuse, succeed, type Outcome } from '../http/errors.js';
import type { IdempotencyQuota } from './idempotency-quota.js';
import type { Claim, DigestedRequest, IdempotencyStore } from './idempotency.store.js';
import type { IdempotentCall, RepeatableRequest } from './idempotent-call.decorator.js';

/** Both calls that can be repeated answer 200. */
const OK = 200;

/** Keys leave with the hours; asking again sooner changes little. */
const FULL_RETRY_SECONDS = 60;
const TOO_MANY_KEYS = refuse('RATE_LIMITED', {
  message:
    'The account has as many Idempotency-Keys of the last 24 hours as it may have. Requests with keys that are known, and requests without a key, are answered.',
  retryAfterSeconds: FULL_RETRY_SECONDS,
});

export interface IdempotencyOptions {
  readonly store: Pick<IdempotencyStore, 'claim' | 'has' | 'answered' | 'refused' | 'failed'>;
  readonly quota: Pick<IdempotencyQuota, 'isFull'>;
  readonly clock: Pick<DatabaseClock, 'newId'>;
  readonly keys: ServerKeys;
  /** Hears of claims whose end could not be written; their lease ends them. */
  readonly onError: (error: unknown) => void;
}

/**
 * Answers a repeated request with the answer of the first (contract, Idempotency). The claim is committed before the work
 * begins and carries the id of what the work makes; so an attempt that was cut short is taken up by the next with the
 * same id, and finds what is there already.
 */
export class IdempotencyService {
  constructor(private readonly options: IdempotencyOptions) {}

  /**
   * `work` makes what has the given id and answers JSON text for status 200; run again with the same id it must make
   * nothing twice. A success is kept for a day, a refusal frees the key, a failure lets the next attempt begin at once.
   */
  async run(call: IdempotentCall, work: (resourceId: Uuid) => Promise<Outcome<string>>): Promise<Outcome<string>> {
    if (call.request === null) return work(this.options.clock.newId());
    const request = this.digested(call.request);
    if (await this.isOneTooMany(request)) return TOO_MANY_KEYS;
    const claimed = await this.options.store.claim(request);
    switch (claimed.kind) {
      case 'claimed':
        return this.attempt(claimed.claim, work);
      case 'answered':
        call.markReplayed();
        return succeed(claimed.answer.body);
      case 'running':
        return refuse('IDEMPOTENCY_IN_PROGRESS');
      case 'reused':
        return refuse('IDEMPOTENCY_KEY_REUSED');
    }
  }

  /** A key that is known may always be repeated. */
  private async isOneTooMany(request: DigestedRequest): Promise<boolean> {
    const { quota, store } = this.options;
    return (await quota.isFull(request.accountId, request.test)) && !(await store.has(request));
  }

  private async attempt(claim: Claim, work: (id: Uuid) => Promise<Outcome<string>>): Promise<Outcome<string>> {
    const { store } = this.options;
    let outcome: Outcome<string>;
    try {
      outcome = await work(claim.resourceId);
    } catch (error) {
      await this.end(store.failed(claim));
      throw error;
    }
    if (outcome.ok) await this.end(store.answered(claim, { status: OK, body: outcome.value }));
    else await this.end(ERRORS[outcome.refusal.code].status >= 500 ? store.failed(claim) : store.refused(claim));
    return outcome;
  }

  /** What was done is true whether or not its end was written: without it the lease ends, and a retry finds the same. */
  private async end(written: Promise<void>): Promise<void> {
    await written.catch(this.options.onError);
  }

  private digested(request: RepeatableRequest): DigestedRequest {
    const { keys } = this.options;
    const { tenant, method, path, key, bodyDigest } = request;
    const { accountId, mode } = tenant;
    // No part but the last can hold a line break, and the last is printable.
    const scope = [accountId, mode, method, path].join('\n');
    const digests = keys.versions.map((version) => ({
      version,
      digest: keys.digest('idempotency', `key\n${scope}\n${key}`, version),
      fingerprint: keys.digest('idempotency', `body\n${scope}\n${bodyDigest.toString('hex')}`, version),
    }));
    return { accountId, test: isTestMode(tenant), digests };
  }
}
