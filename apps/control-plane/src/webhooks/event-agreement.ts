import type { DueEvent } from '@countersign/events';
import { STATUS_BY_TERMINAL_EVENT, type Session } from '@countersign/session/rules';
import type { EventFault } from '../events/event-fault.js';

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
