import type { DueEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { STATUS_BY_TERMINAL_EVENT, type Session } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import { EventRefused, type EventFault } from '../events/event-fault.js';
import { EventRefusals } from '../events/event-refusals.js';
import { AccountUrls, type UrlClaim } from './account-urls.js';

/** The columns of an event that its session confirms, and its URL. */
export type EventOfSession = Pick<DueEvent, 'accountId' | 'test' | 'type'> & { readonly url: string };

/**
 * How an event contradicts its session; null for not at all. `account_url`: the session has no URL of its own, so the
 * event must have one of its account.
 */
export function disagreement(event: EventOfSession, session: Session): EventFault | 'account_url' | null {
  if (event.accountId !== session.accountId) return 'account';
  if (event.test !== session.test) return 'mode';
  const status = STATUS_BY_TERMINAL_EVENT.get(event.type);
  if (status !== undefined && status !== session.status) return 'status';
  if (session.webhookUrl === null) return 'account_url';
  return session.webhookUrl === event.url ? null : 'url';
}

/** The event of a delivery, before its body is rendered. */
interface EventToCheck extends EventOfSession {
  readonly id: Uuid;
  readonly sessionId: Uuid | null;
}

/** Checks events of deliveries against their sessions and accounts, and reports those that contradict them. */
@Injectable()
export class EventAgreement {
  private readonly accountUrls = new AccountUrls();

  constructor(@Inject(EventRefusals) private readonly refusals: Pick<EventRefusals, 'onRefused'>) {}

  /** The ids of the events that must not be sent. */
  async refuse(
    tx: Executor,
    rows: readonly EventToCheck[],
    sessions: ReadonlyMap<Uuid | null, Session>,
  ): Promise<ReadonlySet<Uuid>> {
    const faults = new Map<Uuid, EventFault>();
    const claims: UrlClaim[] = [];
    for (const row of rows) {
      // Only tests of an account have a delivery, and Outbox lets no other process write them.
      if (row.sessionId === null) continue;
      const session = sessions.get(row.sessionId);
      const fault = session === undefined ? 'session' : disagreement(row, session);
      if (session !== undefined && fault === 'account_url') claims.push(claimOf(row, session));
      else if (fault !== null && fault !== 'account_url') faults.set(row.id, fault);
    }
    for (const id of await this.accountUrls.findWrong(tx, claims)) faults.set(id, 'url');
    for (const [id, fault] of faults) this.refusals.onRefused(new EventRefused(id, fault));
    return new Set(faults.keys());
  }
}

const claimOf = ({ id, accountId, test, url }: EventToCheck, { createdAt }: Session): UrlClaim => ({
  ...{ id, accountId, test, url },
  sessionCreatedAt: createdAt,
});
