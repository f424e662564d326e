import { AdminKeyStore } from '@countersign/accounts/admin-keys';
import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { ENDED_SESSION } from '../../http/developer-rights.js';
import { refuse } from '../../http/errors.js';
import type { Actor, Engineer } from './admin-resource.js';

/** The refusal of a change whose engineer has lost the right to it. */
type EndedRight = ReturnType<typeof refuse>;

/**
 * Reads what an engineer may do in the transaction of a change. A request is authorized by its headers, and admin keys by a copy that
 * is some seconds old: the key or the session may have ended, or have another role, before the body arrived.
 */
@Injectable()
export class EngineerRights {
  constructor(
    private readonly keys: AdminKeyStore,
    private readonly sessions: ConsoleSessionStore,
  ) {}

  /**
   * The refusal of a change whose engineer may not make it any more, else null. A transaction that ends the key or the session, or
   * changes the role, waits for this one.
   */
  async hold(tx: Executor, by: Actor | Engineer): Promise<EndedRight | null> {
    if (!('holder' in by)) return null;
    const { keyId, keyDigests, sessionId } = by.holder;
    if (sessionId !== null) {
      const session = await this.sessions.hold(tx, sessionId);
      if (session === null) return ENDED_SESSION;
      return session.role === by.role ? null : OTHER_ROLE;
    }
    // The key of the environment has no row.
    if (keyId === null) return null;
    const role = await this.keys.holdRole(tx, keyId, keyDigests);
    if (role === null) return ENDED_KEY;
    return role === by.role ? null : OTHER_ROLE;
  }
}

const ENDED_KEY = refuse('UNAUTHORIZED', {
  message: 'This admin key was revoked or rotated: nothing was changed. Send a valid one.',
});
const OTHER_ROLE = refuse('FORBIDDEN', {
  message: 'The role of the caller has changed meanwhile: nothing was changed. Send the request again.',
});
