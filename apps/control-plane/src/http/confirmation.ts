import type { Scope } from '@countersign/accounts/accounts';
import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { refuse } from './errors.js';

/**
 * Refuses a session of an account's member that no live key with these scopes has confirmed. Owners of the installation, who act
 * for an account, have signed in with more than a phone.
 */
export function refuseUnconfirmed(
  { accountId, confirmation }: Pick<ConsoleSession, 'accountId' | 'confirmation'>,
  confirmedWith: readonly Scope[],
): ReturnType<typeof refuse> | null {
  if (accountId === null) return null;
  if (confirmation === null) return refuse('CONFIRMATION_REQUIRED');
  const lacking = confirmedWith.find((scope) => !confirmation.scopes.includes(scope));
  if (lacking === undefined) return null;
  const message = `Confirm this session with a live API key that has the scope ${lacking}.`;
  return refuse('CONFIRMATION_REQUIRED', { message });
}
