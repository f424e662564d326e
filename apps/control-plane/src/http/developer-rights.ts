import { AccountStore, type ApiKey, type KeyLimits } from '@countersign/accounts/accounts';
import { type ConsoleSession, ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { MemberStore } from '@countersign/accounts/members';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { AccountSlots } from './account-slots.js';
import { refuseUnconfirmed } from './confirmation.js';
import { grantedBy } from './console-policy.js';
import type { Developer } from './developer.decorator.js';
import { refuse, succeed, type Outcome } from './errors.js';
import { Limits } from './limits.js';

/** The most that a key may have which the developer makes or learns, and the member who learns it. */
export interface HeldRights extends Pick<ApiKey, 'scopes' | 'quotaId' | 'memberId'> {
  /** Those of the caller's key, or of the one that has confirmed the session; null without such a key. */
  readonly limits: KeyLimits | null;
}

/**
 * Reads what a developer may do in the transaction of a change, and runs few changes of an account at a time. A request is
 * authorized by its headers, and keys by a copy that is some seconds old: the key, the member, the session or the key that
 * confirmed it may have ended before the body arrived.
 */
@Injectable()
export class DeveloperRights {
  private readonly slots = new AccountSlots('changes');

  constructor(
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
    private readonly sessions: ConsoleSessionStore,
    private readonly limits: Limits,
  ) {}

  /**
   * Runs a change in its turn: changes of one account lock the same rows, and each that waits holds a connection. Those of the
   * account itself have a quota for each mode, those of engineers of the installation have none.
   */
  async inTurn<Result>(
    { caller, session }: Developer,
    change: () => Promise<Outcome<Result>>,
  ): Promise<Outcome<Result>> {
    const isEngineer = session?.accountId === null;
    const { refusal } = isEngineer ? { refusal: null } : await this.limits.countChange(caller.tenant);
    return refusal === null ? this.slots.run(caller.tenant, change) : { ok: false, refusal };
  }

  /** For calls with `confirmedWith`. A transaction that ends what the rights come from waits for this one, and sees its change. */
  hold(tx: Executor, by: Developer): Promise<Outcome<HeldRights>> {
    return by.session === null ? this.ofKey(tx, by) : this.ofSession(tx, by, by.session);
  }

  private async ofKey(tx: Executor, { caller, keyDigests, needs }: Developer): Promise<Outcome<HeldRights>> {
    const key = await this.accounts.holdApiKey(tx, caller.keyId, keyDigests);
    if (key === null) return ENDED_KEY;
    const lacking = needs.find((scope) => !key.scopes.includes(scope));
    if (lacking !== undefined) return refuse('FORBIDDEN', { message: `This API key lacks the scope ${lacking}.` });
    return succeed(key);
  }

  private async ofSession(
    tx: Executor,
    { caller, needs }: Developer,
    { id, accountId, memberId }: Pick<ConsoleSession, 'id' | 'accountId' | 'memberId'>,
  ): Promise<Outcome<HeldRights>> {
    const developerId = accountId === null ? null : memberId;
    const mayAct = developerId === null || (await this.members.holdDeveloper(tx, developerId));
    // Not held while an owner is changing the member: that transaction may wait for a key which this one has locked.
    const session = await (mayAct ? this.sessions.hold(tx, id) : this.sessions.get(tx, id));
    if (session === null) return ENDED_SESSION;
    if (!mayAct) return CHANGING;
    if (session.role !== 'developer' && session.role !== 'owner') return OTHER_ROLE;
    const scopes = grantedBy(session.role);
    const rights = { scopes, limits: null, quotaId: caller.tenant.accountId, memberId: developerId };
    if (caller.kind === 'test') return succeed(rights);
    return refuseUnconfirmed(session, needs) ?? succeed({ ...rights, ...confirmedBy(session) });
  }
}

const confirmedBy = ({ confirmation }: ConsoleSession): Partial<Pick<HeldRights, 'scopes' | 'limits'>> =>
  confirmation === null ? {} : { scopes: confirmation.scopes, limits: confirmation.limits };

const ENDED_KEY = refuse('UNAUTHORIZED', {
  message: 'This API key was revoked or rotated: nothing was changed. Send a valid one.',
});
/** The refusal of a change whose session has ended before its body arrived. */
export const ENDED_SESSION = refuse('UNAUTHORIZED', {
  message: 'This session of the console has ended: nothing was changed. Sign in again.',
});
const CHANGING = refuse('CONFLICT', { message: 'An owner is changing this member: sign in again, or try again.' });
const OTHER_ROLE = refuse('FORBIDDEN', { message: 'The role of this member has changed, and may not make this call.' });
