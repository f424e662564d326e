import { AccountStore, type Account } from '@countersign/accounts/accounts';
import { ACCOUNTS } from '@countersign/accounts/records';
import { DAYS_OF_FAILURE, DefaultWebhookStore, type FailingDefault } from '@countersign/accounts/webhooks';
import { AuditStore, EventStore } from '@countersign/events';
import { firstIdAt, renderId, type Uuid } from '@countersign/ids';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { accountView } from '../admin/accounts/account.view.js';
import { SUCCEEDED_JUST_NOW } from './default-url.sql.js';

/** Longer than any schedule (two days at most): older events cannot be pending when their URL begins to fail. */
const SCHEDULE_MS = 4 * 24 * 60 * 60 * 1000;
/** A delivery that ended less than this before the search may not have been committed when it was searched. */
const JUST_NOW_MS = 10_000;

/** The actor of automatic changes in the audit log. */
const ACTOR = 'system';

/** Writes that a default URL is disabled: the account, the event and the audit entry, in one transaction. */
@Injectable()
export class DisabledUrlStore {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly defaults: DefaultWebhookStore,
    private readonly accounts: AccountStore,
    private readonly events: EventStore,
    private readonly audit: AuditStore,
  ) {}

  /** Disables the URL and resolves with the id of the event; null when the URL succeeded or changed during the search. */
  async disable(tx: Executor, accountId: Uuid, found: FailingDefault, searchedAtMs: number): Promise<Uuid | null> {
    const { defaults, accounts } = this;
    const before = await ACCOUNTS.lock(tx, accountId);
    const failing = before === null ? null : await defaults.findFailing(tx, accountId);
    if (before === null || failing === null || !isSame(failing, found)) return null;
    const justNow = new Date(searchedAtMs - JUST_NOW_MS);
    const values = [accountId, failing.url, justNow, firstIdAt(lowestMsOf(failing.since))];
    const [success] = await tx.query(SUCCEEDED_JUST_NOW, values);
    // The search after the next failure finds this success.
    if (success !== undefined) return null;
    const at = new Date(this.clock.nowMs());
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
    const { clock, events, audit } = this;
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
export const lowestMsOf = (since: Date): number => Math.max(0, since.getTime() - SCHEDULE_MS);

const isSame = (one: FailingDefault, other: FailingDefault): boolean =>
  one.url === other.url && one.since.getTime() === other.since.getTime();
