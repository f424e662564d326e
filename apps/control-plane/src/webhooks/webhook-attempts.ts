import { AccountDirectory } from '@countersign/accounts/accounts';
import { tenantOf } from '@countersign/keys';
import { DatabaseClock } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { judgeAttempt, type AttemptResult, type Verdict } from './attempt.js';
import { AttemptRecorder } from './attempt.recorder.js';
import type { ClaimedDelivery } from './delivery.store.js';
import type { ReplyKind } from './host-circuit-breaker.js';
import type { JobResult } from './per-host.scheduler.js';
import { WebhookPoster } from './webhook-poster.js';

/** Makes single attempts of deliveries and has them recorded. */
@Injectable()
export class WebhookAttempts {
  private readonly onError: (error: unknown) => void;
  private stopping = false;

  constructor(
    @Inject(WebhookPoster) private readonly poster: Pick<WebhookPoster, 'post' | 'close'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    @Inject(AccountDirectory) private readonly accounts: Pick<AccountDirectory, 'webhookSecrets'>,
    private readonly records: AttemptRecorder,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('webhook dispatcher: claiming, sending or recording deliveries');
  }

  /** From here on a failed POST may be one that this process aborted. */
  stop(): void {
    this.stopping = true;
  }

  /** Closes all connections and aborts requests under way. */
  close(): Promise<void> {
    return this.poster.close();
  }

  /** Makes one attempt. Never rejects. */
  async attemptDelivery(delivery: ClaimedDelivery): Promise<JobResult> {
    const { clock } = this;
    try {
      const startedMs = clock.nowMs();
      const result = await this.postDelivery(delivery, startedMs);
      // Aborted by our own stop, not by the receiver: another process repeats it after the end of the lease.
      if (this.stopping && result.kind === 'failed') return NOT_SENT;
      const endedMs = clock.nowMs();
      const number = delivery.attemptsMade + 1;
      const { beside } = delivery;
      const verdict = judgeAttempt({ result, number, startedMs, endedMs, beside }, Math.random());
      return { reply: replyOf(result, verdict), recorded: this.records.recordAttempt(delivery, verdict) };
    } catch (error) {
      this.onError(error);
      return NOT_SENT;
    }
  }

  private async postDelivery({ id, url, body, ...owner }: ClaimedDelivery, nowMs: number): Promise<AttemptResult> {
    const secrets = await this.accounts.webhookSecrets(tenantOf(owner));
    return this.poster.post({ eventId: id, owner, url, body, secrets, nowMs });
  }
}

const TOO_MANY_REQUESTS = 429;
/** An attempt without a result: there is nothing to record, and it says nothing about the host. */
const NOT_SENT: JobResult = { reply: 'not_sent', recorded: Promise.resolve() };

/** A 429 counts as no response: the host is paused. */
function replyOf(result: AttemptResult, { status, notSent }: Verdict): ReplyKind {
  if (notSent === true) return 'not_sent';
  if (status === 'succeeded') return 'success';
  const isSilent = result.kind === 'failed' || (result.kind === 'answered' && result.status === TOO_MANY_REQUESTS);
  return isSilent ? 'no_response' : 'error_response';
}
