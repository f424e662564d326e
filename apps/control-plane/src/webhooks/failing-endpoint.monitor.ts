import type { Account, AccountStore } from '@countersign/accounts/accounts';
import { ACCOUNTS } from '@countersign/accounts/records';
import { DAYS_OF_FAILURE, type DefaultWebhookStore, type FailingDefault } from '@countersign/accounts/webhooks';
import type { AuditStore, EventStore } from '@countersign/events';
import { firstIdAt, renderId, type Uuid } from '@countersign/ids';
import type { Database, DatabaseClock, Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { accountView } from '../admin/accounts/account.view.js';
import type { Verdict } from './attempt.js';
import type { ClaimedDelivery } from './delivery.store.js';
import { SUCCEEDED_JUST_NOW, SUCCEEDED_SINCE } from './default-url.sql.js';

const FLUSH_INTERVAL_MS = 2_000;
/** A failing URL is written at most this often: failures count in days. */
const WRITE_AGAIN_MS = 60_000;
/** URLs waiting to be written, and URLs known to fail, at most; further ones are noted with their next failure. */
const MAX_NOTED = 10_000;
/** Longer than any schedule (two days at most): older events cannot be pending when their URL begins to fail. */
const SCHEDULE_MS = 4 * 24 * 60 * 60 * 1000;
/** Deliveries read in one statement, by time: an account may have millions. The latest are read first. */
const SEARCH_STEP_MS = 15 * 60 * 1000;
/** A delivery that ended less than this before the search may not have been committed when it was searched. */
const JUST_NOW_MS = 10_000;

/** The actor of automatic changes in the audit log. */
const ACTOR = 'system';

interface Noted {
  readonly accountId: Uuid;
  readonly url: string;
  readonly at: Date;
}

type NotedDelivery = Pick<ClaimedDelivery, 'accountId' | 'test' | 'url'>;

export interface FailingEndpointMonitorOptions {
  readonly database: Database;
  readonly clock: Pick<DatabaseClock, 'newId' | 'nowMs'>;
  readonly defaults: DefaultWebhookStore;
  readonly accounts: Pick<AccountStore, 'updateAccount'>;
  readonly events: Pick<EventStore, 'append'>;
  readonly audit: Pick<AuditStore, 'append'>;
  /** Called with the event of a disabled URL, after its commit. Must not throw. */
  readonly onDisabled: (eventId: Uuid) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Disables default URLs that have only failed for days (contract, Webhooks). Failures are noted in memory and written in sets;
 * a success costs nothing unless its URL was failing. Before a URL is disabled, its deliveries are searched for a success, since
 * notes may be lost. The search holds no lock on the account.
 */
export class FailingEndpointMonitor {
  private readonly failures = new Map<string, Noted>();
  private readonly successes = new Map<string, Noted>();
  /** When each failing URL was last written, monotonic milliseconds. */
  private readonly writtenMs = new Map<string, number>();
  private readonly loop: PollLoop;

  constructor(private readonly options: FailingEndpointMonitorOptions) {
    this.loop = new PollLoop({
      everyMs: FLUSH_INTERVAL_MS,
      work: () => this.flush().then(() => false),
      onError: options.onError,
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

  async stop(): Promise<void> {
    await this.loop.stop();
  }

  /** Writes noted attempts, and disables URLs that have failed for too long. */
  async flush(): Promise<void> {
    const { database, defaults } = this.options;
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
    for (const accountId of failingLong) await this.disableDefaultUrl(accountId);
  }

  private noteWritten(keys: readonly string[]): void {
    if (this.writtenMs.size + keys.length > MAX_NOTED) this.writtenMs.clear();
    const nowMs = performance.now();
    for (const key of keys) this.writtenMs.set(key, nowMs);
  }

  private async disableDefaultUrl(accountId: Uuid): Promise<void> {
    const { database, clock, defaults, onDisabled } = this.options;
    const failing = await defaults.findFailing(database, accountId);
    if (failing === null) return;
    const searchedAtMs = clock.nowMs();
    if (await this.hasSucceeded(accountId, failing, searchedAtMs)) {
      await defaults.clearFailing(database, accountId, failing);
      return;
    }
    const eventId = await database.transaction((tx) => this.disableIn(tx, accountId, failing, searchedAtMs));
    if (eventId !== null) onDisabled(eventId);
  }

  /** Whether a delivery to the URL succeeded since it began to fail, as far as committed when the search began. */
  private async hasSucceeded(accountId: Uuid, { url, since }: FailingDefault, searchedAtMs: number): Promise<boolean> {
    const lowestMs = lowestMsOf(since);
    // Ids may be ahead of the database's time by the clock error of a process.
    for (let endMs = searchedAtMs + SEARCH_STEP_MS; endMs > lowestMs; endMs -= SEARCH_STEP_MS) {
      const [low, high] = [firstIdAt(Math.max(lowestMs, endMs - SEARCH_STEP_MS)), firstIdAt(endMs)];
      const [found] = await this.options.database.query(SUCCEEDED_SINCE, [accountId, url, since, low, high]);
      if (found !== undefined) return true;
    }
    return false;
  }

  /** Disables the URL and resolves with the id of the event; null when the URL succeeded or changed during the search. */
  private async disableIn(
    tx: Executor,
    accountId: Uuid,
    found: FailingDefault,
    searchedAtMs: number,
  ): Promise<Uuid | null> {
    const { defaults, accounts } = this.options;
    const before = await ACCOUNTS.lock(tx, accountId);
    const failing = before === null ? null : await defaults.findFailing(tx, accountId);
    if (before === null || failing === null || !isSame(failing, found)) return null;
    const justNow = new Date(searchedAtMs - JUST_NOW_MS);
    const values = [accountId, failing.url, justNow, firstIdAt(lowestMsOf(failing.since))];
    const [success] = await tx.query(SUCCEEDED_JUST_NOW, values);
    // The search after the next failure finds this success.
    if (success !== undefined) return null;
    const at = new Date(this.options.clock.nowMs());
    const reason = `Nothing but failure in ${DAYS_OF_FAILURE} days, since ${failing.since.toISOString()}.`;
    const after = await accounts.updateAccount(tx, {
      ...before,
      defaultWebhookDisabledAt: at,
      defaultWebhookDisabledReason: reason,
    });
    return this.appendEvent(tx, before, after, failing.url);
  }

  /** Appends the event and the audit entry of a disabled URL. */
  private async appendEvent(tx: Executor, before: Account, after: Account, url: string): Promise<Uuid> {
    const { clock, events, audit } = this.options;
    const resourceId = renderId('acct', after.id);
    const [id, reason] = [clock.newId(), after.defaultWebhookDisabledReason];
    await events.append(tx, [
      {
        id,
        type: 'webhook.disabled',
        accountId: after.id,
        test: false,
        sessionId: null,
        occurredAt: after.defaultWebhookDisabledAt ?? new Date(clock.nowMs()),
        data: JSON.stringify({ accountId: resourceId, url, reason }),
        sessionWebhookUrl: null,
      },
    ]);
    await audit.append(tx, {
      actor: ACTOR,
      action: 'disable-webhook',
      resource: 'accounts',
      resourceId,
      before: accountView(before),
      after: accountView(after),
      requestId: null,
    });
    return id;
  }
}

/** Deliveries created before this time had ended when the URL began to fail. */
const lowestMsOf = (since: Date): number => Math.max(0, since.getTime() - SCHEDULE_MS);

const isSame = (one: FailingDefault, other: FailingDefault): boolean =>
  one.url === other.url && one.since.getTime() === other.since.getTime();
