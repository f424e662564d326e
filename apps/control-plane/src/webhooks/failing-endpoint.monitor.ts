import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import type { Verdict } from './attempt.js';
import type { ClaimedDelivery } from './delivery.store.js';
import { FailingUrlService } from './failing-url.service.js';

const FLUSH_INTERVAL_MS = 2_000;
/** A failing URL is written at most this often: failures count in days. */
const WRITE_AGAIN_MS = 60_000;
/** URLs waiting to be written, and URLs known to fail, at most; further ones are noted with their next failure. */
const MAX_NOTED = 10_000;
interface Noted {
  readonly accountId: Uuid;
  readonly url: string;
  readonly at: Date;
}

type NotedDelivery = Pick<ClaimedDelivery, 'accountId' | 'test' | 'url'>;

/**
 * Disables default URLs that have only failed for days (contract, Webhooks). Failures are noted in memory and written in sets;
 * a success costs nothing unless its URL was failing.
 */
@Injectable()
export class FailingEndpointMonitor {
  private readonly failures = new Map<string, Noted>();
  private readonly successes = new Map<string, Noted>();
  /** When each failing URL was last written, monotonic milliseconds. */
  private readonly writtenMs = new Map<string, number>();
  private readonly loop: PollLoop;

  constructor(
    private readonly database: Database,
    private readonly defaults: DefaultWebhookStore,
    private readonly failingUrls: FailingUrlService,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.loop = new PollLoop({
      everyMs: FLUSH_INTERVAL_MS,
      work: () => this.flush().then(() => false),
      onError: failures.about('failing endpoint monitor: writing failures or disabling a URL'),
    });
  }

  /** Notes a recorded attempt. Never throws, never waits. */
  noteAttempt({ accountId, test, url }: NotedDelivery, { status, attempt, notSent }: Verdict): void {
    // Default URLs receive no test events: test deliveries to the same URL do not count.
    if (notSent === true || test) return;
    const key = `${accountId} ${url}`;
    if (status === 'succeeded') {
      this.failures.delete(key);
      if (this.writtenMs.delete(key)) this.successes.set(key, { accountId, url, at: new Date(attempt.at) });
      return;
    }
    const writtenMs = this.writtenMs.get(key);
    if (writtenMs !== undefined && performance.now() - writtenMs < WRITE_AGAIN_MS) return;
    if (this.failures.size >= MAX_NOTED || this.failures.has(key)) return;
    this.failures.set(key, { accountId, url, at: new Date(attempt.at) });
  }

  @OnStop('delivery maintenance')
  async stop(): Promise<void> {
    await this.loop.stop();
  }

  /** Writes noted attempts, and disables URLs that have failed for too long. */
  async flush(): Promise<void> {
    const { database, defaults } = this;
    const successes = [...this.successes.values()];
    this.successes.clear();
    await defaults.recordSuccesses(database, successes);
    const failures = [...this.failures];
    this.failures.clear();
    const failingLong = await defaults.recordFailures(
      database,
      failures.map(([, noted]) => noted),
    );
    this.noteWritten(failures.map(([key]) => key));
    for (const accountId of failingLong) await this.failingUrls.disableDefaultUrl(accountId);
  }

  private noteWritten(keys: readonly string[]): void {
    if (this.writtenMs.size + keys.length > MAX_NOTED) this.writtenMs.clear();
    const nowMs = performance.now();
    for (const key of keys) this.writtenMs.set(key, nowMs);
  }
}
