import { isTestMode, ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { ERRORS, refuse, succeed, type Outcome } from '../http/errors.js';
import { FailureLog } from '../operations/failure-log.js';
import { IdempotencyQuota } from './idempotency-quota.js';
import { type Claim, type DigestedRequest, IdempotencyStore } from './idempotency.store.js';
import type { IdempotentCall, RepeatableRequest } from './idempotent-call.decorator.js';

/** Success status of both operations that accept an Idempotency-Key. */
const OK = 200;

/** Keys expire over hours, so an earlier retry gains little. */
const FULL_RETRY_SECONDS = 60;
const TOO_MANY_KEYS = refuse('RATE_LIMITED', {
  message:
    'The account has reached its quota of Idempotency-Keys in 24 hours. Requests with known keys and requests without a key are still answered.',
  retryAfterSeconds: FULL_RETRY_SECONDS,
});

/**
 * Answers a repeated request with the answer of the first (contract, Idempotency). The claim is committed before the work
 * begins and has the id of the resource that the work creates. If an attempt is interrupted, the next one continues with
 * the same id and finds the existing resource.
 */
@Injectable()
export class IdempotencyService {
  private readonly onError: (error: unknown) => void;

  constructor(
    private readonly store: IdempotencyStore,
    private readonly quota: IdempotencyQuota,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'newId'>,
    private readonly keys: ServerKeys,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('writing the result of an idempotent request');
  }

  /**
   * `work` creates the resource with the given id and returns JSON text for status 200. It must be idempotent for that id.
   * A success is stored for a day, a refusal frees the key, and after a failure the next attempt may begin at once.
   */
  async run(call: IdempotentCall, work: (resourceId: Uuid) => Promise<Outcome<string>>): Promise<Outcome<string>> {
    if (call.request === null) return work(this.clock.newId());
    const request = this.digestRequest(call.request);
    if (await this.isOverQuota(request)) return TOO_MANY_KEYS;
    const claimed = await this.store.claim(request);
    switch (claimed.kind) {
      case 'claimed':
        return this.runClaimed(claimed.claim, work);
      case 'answered':
        call.markReplayed();
        return succeed(claimed.answer.body);
      case 'running':
        return refuse('IDEMPOTENCY_IN_PROGRESS');
      case 'reused':
        return refuse('IDEMPOTENCY_KEY_REUSED');
    }
  }

  /** The quota does not apply to known keys. */
  private async isOverQuota(request: DigestedRequest): Promise<boolean> {
    const { quota, store } = this;
    return (await quota.isFull(request.accountId, request.test)) && !(await store.hasKey(request));
  }

  private async runClaimed(claim: Claim, work: (id: Uuid) => Promise<Outcome<string>>): Promise<Outcome<string>> {
    const { store } = this;
    let outcome: Outcome<string>;
    try {
      outcome = await work(claim.resourceId);
    } catch (error) {
      await this.awaitWrite(store.releaseFailed(claim));
      throw error;
    }
    if (outcome.ok) await this.awaitWrite(store.storeAnswer(claim, { status: OK, body: outcome.value }));
    else
      await this.awaitWrite(
        ERRORS[outcome.refusal.code].status >= 500 ? store.releaseFailed(claim) : store.releaseRefused(claim),
      );
    return outcome;
  }

  /** Reports a failed write and does not reject: the lease then ends the claim, and a retry finds the resource. */
  private async awaitWrite(write: Promise<void>): Promise<void> {
    await write.catch(this.onError);
  }

  private digestRequest(request: RepeatableRequest): DigestedRequest {
    const { keys } = this;
    const { tenant, method, path, key, bodyDigest } = request;
    const { accountId, mode } = tenant;
    // Line breaks separate the parts unambiguously: account id, mode, method, route and key contain none.
    const scope = [accountId, mode, method, path].join('\n');
    const digests = keys.versions.map((version) => ({
      version,
      digest: keys.digest('idempotency', `key\n${scope}\n${key}`, version),
      fingerprint: keys.digest('idempotency', `body\n${scope}\n${bodyDigest.toString('hex')}`, version),
    }));
    return { accountId, test: isTestMode(tenant), digests };
  }
}
