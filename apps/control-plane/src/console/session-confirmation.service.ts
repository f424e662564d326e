import { type ConsoleSession, ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { parseApiKey } from '@countersign/keys';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { actorOf } from '../http/console.authenticator.js';
import { type Outcome, refuse, succeed } from '../http/errors.js';
import { Limits } from '../http/limits.js';

/** The call of a member, and where it came from. */
interface ConfirmationCall {
  readonly clientAddress: string;
  readonly requestId: string;
}

/**
 * Confirms the session of an account's member with an API key of the account. The phone of a member is verified by messages that
 * gateways carry and engineers of the installation route, so whoever controls these could sign in as the member; none of them
 * handles API keys. The confirmed session can do no more than the key itself allows, see `confirmedWith` of RouteAccess.
 */
@Injectable()
export class SessionConfirmationService {
  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessionStore,
    private readonly audit: AuditStore,
    private readonly limits: Limits,
  ) {}

  /** A wrong key counts as failed authentication of its address. The entry of the audit log names the key by its id. */
  async confirm(session: ConsoleSession, key: string, call: ConfirmationCall): Promise<Outcome<ConsoleSession>> {
    if (session.role !== 'developer') return NOT_NEEDED;
    const confirmed = parseApiKey(key)?.kind === 'live' ? await this.confirmWith(session, key, call) : null;
    if (confirmed !== null) return succeed(confirmed);
    const { refused } = await this.limits.refuseKey(call.clientAddress);
    return refused.refusal.code === 'RATE_LIMITED' ? { ok: false, refusal: refused.refusal } : WRONG_KEY;
  }

  private confirmWith(
    session: ConsoleSession,
    key: string,
    { requestId }: ConfirmationCall,
  ): Promise<ConsoleSession | null> {
    return this.database.transaction(async (tx) => {
      const keyId = await this.sessions.confirm(tx, session.id, key);
      if (keyId === null) return null;
      const actor = actorOf(session);
      await this.audit.append(tx, {
        ...{ actor, action: 'confirm', resource: 'console-sessions', resourceId: renderId('csn', session.id) },
        ...{ before: null, after: { holder: actor, key: renderId('key', keyId) }, requestId },
      });
      return this.sessions.get(tx, session.id);
    });
  }
}

const NOT_NEEDED = refuse('FORBIDDEN', { message: 'Only sessions of an account’s developers are confirmed.' });
const WRONG_KEY = refuse('VALIDATION_ERROR', {
  field: 'key',
  message: 'key must be a live API key of this account that is not revoked.',
});
