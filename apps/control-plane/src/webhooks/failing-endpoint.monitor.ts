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
/** A URL that goes on failing is written down so often: days are counted here, not seconds. */
const NOTE_AGAIN_MS = 60_000;
/** URLs that wait to be written down, or are known to fail, at most; what does not fit is noted with its next failure. */
const MAX_NOTED = 10_000;
/** Events that were still on their way when their URL began to fail: the schedule is over after two days at the most. */
const SCHEDULE_MS = 4 * 24 * 60 * 60 * 1000;
/** An account may have millions of deliveries in these days: they are looked through piece by piece, the latest first. */
const PIECE_MS = 15 * 60 * 1000;
/** What ended so shortly before the look began may not have been committed yet when it was looked for. */
const JUST_NOW_MS = 10_000;

/** Who the audit log names for what nobody did by hand. */
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
  /** Told of the event, once it is committed. Must not throw. */
  readonly onDisabled: (eventId: Uuid) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Disables default URLs of which nothing but failure has come for days (contract, Webhooks). Failures are noted in
 * memory and written down in sets; a success costs nothing, unless its URL was failing. Before a URL is disabled the
 * deliveries themselves are asked, so that a note that got lost does no harm: without holding on to the account, which
 * everybody else needs meanwhile.
 */
export class FailingEndpointMonitor {
  private readonly failures = new Map<string, Noted>();
  private readonly successes = new Map<string, Noted>();
  /** When each failing URL was written down last, monotonic. */
  private readonly failing = new Map<string, number>();
  private readonly periodic: PollLoop;

  constructor(private readonly options: FailingEndpointMonitorOptions) {
    this.periodic = new PollLoop({
      everyMs: FLUSH_INTERVAL_MS,
      work: () => this.flush().then(() => false),
      onError: options.onError,
    });
  }

  /** Never throws, never waits. */
  note({ accountId, test, url }: NotedDelivery, { status, attempt, notSent }: Verdict): void {
    // A default URL receives no test event: what a test delivery shows about the same URL does not count.
    if (notSent === true || test) return;
    const key = `${accountId} ${url}`;
    if (status === 'succeeded') {
      this.failures.delete(key);
      if (this.failing.delete(key)) this.successes.set(key, { accountId, url, at: new Date(attempt.at) });
      return;
    }
    const notedMs = this.failing.get(key);
    if (notedMs !== undefined && performance.now() - notedMs < NOTE_AGAIN_MS) return;
    if (this.failures.size >= MAX_NOTED || this.failures.has(key)) return;
    this.failures.set(key, { accountId, url, at: new Date(attempt.at) });
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
  }

  /** Writes down what was noted, and disables what has failed for long. */
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
    this.remember(failures.map(([key]) => key));
    for (const accountId of failingLong) await this.disable(accountId);
  }

  private remember(keys: readonly string[]): void {
    if (this.failing.size + keys.length > MAX_NOTED) this.failing.clear();
    const nowMs = performance.now();
    for (const key of keys) this.failing.set(key, nowMs);
  }

  private async disable(accountId: Uuid): Promise<void> {
    const { database, clock, defaults, onDisabled } = this.options;
    const failing = await defaults.findFailing(database, accountId);
    if (failing === null) return;
    const lookedAtMs = clock.nowMs();
    if (await this.hasTaken(accountId, failing, lookedAtMs)) {
      await defaults.clearFailing(database, accountId, failing);
      return;
    }
    const eventId = await database.transaction((tx) => this.disableIn(tx, accountId, failing, lookedAtMs));
    if (eventId !== null) onDisabled(eventId);
  }

  /** Whether the URL has taken anything since it began to fail, as far as was committed when the look began. */
  private async hasTaken(accountId: Uuid, { url, since }: FailingDefault, lookedAtMs: number): Promise<boolean> {
    const lowestMs = lowestMsOf(since);
    // No id is made ahead of its time by more than a process's clock is off.
    for (let endMs = lookedAtMs + PIECE_MS; endMs > lowestMs; endMs -= PIECE_MS) {
      const [low, high] = [firstIdAt(Math.max(lowestMs, endMs - PIECE_MS)), firstIdAt(endMs)];
      const [found] = await this.options.database.query(SUCCEEDED_SINCE, [accountId, url, since, low, high]);
      if (found !== undefined) return true;
    }
    return false;
  }

  /** The event that tells of it; null when the URL stays, or was changed while it was looked at. */
  private async disableIn(
    tx: Executor,
    accountId: Uuid,
    seen: FailingDefault,
    lookedAtMs: number,
  ): Promise<Uuid | null> {
    const { defaults, accounts } = this.options;
    const before = await ACCOUNTS.lock(tx, accountId);
    const failing = before === null ? null : await defaults.findFailing(tx, accountId);
    if (before === null || failing === null || !isSame(failing, seen)) return null;
    const justNow = new Date(lookedAtMs - JUST_NOW_MS);
    const values = [accountId, failing.url, justNow, firstIdAt(lowestMsOf(failing.since))];
    const [success] = await tx.query(SUCCEEDED_JUST_NOW, values);
    // The next failure looks again, and finds it.
    if (success !== undefined) return null;
    const at = new Date(this.options.clock.nowMs());
    const reason = `Nothing but failure in ${DAYS_OF_FAILURE} days, since ${failing.since.toISOString()}.`;
    const after = await accounts.updateAccount(tx, {
      ...before,
      defaultWebhookDisabledAt: at,
      defaultWebhookDisabledReason: reason,
    });
    return this.tell(tx, before, after, failing.url);
  }

  private async tell(tx: Executor, before: Account, after: Account, url: string): Promise<Uuid> {
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

/** Deliveries that were made before this are over before the URL began to fail. */
const lowestMsOf = (since: Date): number => Math.max(0, since.getTime() - SCHEDULE_MS);

const isSame = (one: FailingDefault, other: FailingDefault): boolean =>
  one.url === other.url && one.since.getTime() === other.since.getTime();
