import { AccountDirectory, type LiveKey, type Scope } from '@countersign/accounts/accounts';
import { AdminKeyDirectory, type LiveAdminKey } from '@countersign/accounts/admin-keys';
import type { Uuid } from '@countersign/ids';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { CLOSE, type CloseCode } from './close-codes.js';
import type { Listener } from './connection-rules.js';
import { RealtimeConnections } from './realtime-connections.js';
import { closeRevoked } from './revoked-connections.js';

/**
 * Revocation closes open connections within 5 s (contract, Authentication), including a connection admitted after it by
 * a key that was cached for up to 3 s.
 */
const POLL_INTERVAL_MS = 1_500;

/**
 * Polls the keys of open connections, and the keys that issued their tickets, and closes connections whose key was
 * revoked.
 */
@Injectable()
export class KeyRevocationPoller {
  readonly #polling: PollLoop;

  constructor(
    private readonly directory: AccountDirectory,
    private readonly adminKeys: AdminKeyDirectory,
    private readonly connections: RealtimeConnections,
    failures: FailureLog,
  ) {
    this.#polling = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => this.closeRevokedConnections(),
      onError: failures.about('polling revoked keys'),
    });
  }

  @OnStop('realtime')
  stop(): Promise<void> {
    return this.#polling.stop();
  }

  private async closeRevokedConnections(): Promise<boolean> {
    const { directory, adminKeys, connections } = this;
    await closeRevoked(connections.open, {
      idOf: accountKeyOf,
      find: (ids) => directory.liveKeys(ids),
      judge: judgeKey,
    });
    await closeRevoked(connections.open, {
      idOf: adminKeyOf,
      find: (ids) => adminKeys.liveKeys(ids),
      judge: judgeAdminKey,
    });
    return false;
  }
}

/** Scopes that the key of a connection must still have. A connection with full sessions needs `verify`. */
function requiredScopes(listener: Extract<Listener, { kind: 'key' | 'ticket' }>): readonly Scope[] {
  if (listener.kind === 'ticket') return ['verify'];
  return listener.view === 'full' ? ['realtime', 'verify'] : ['realtime'];
}

/** Sessions of the console, whose holder `keyId` names too, end on their own. */
const accountKeyOf = (listener: Listener): Uuid | null =>
  listener.kind === 'ticket' || (listener.kind === 'key' && listener.session === undefined) ? listener.keyId : null;

const adminKeyOf = (listener: Listener): Uuid | null =>
  listener.kind === 'admin' && listener.session === undefined ? listener.keyId : null;

/**
 * The close code for a connection given the current state of its key, or null. Tickets survive a rotation, which ends
 * only the old key text.
 */
export function judgeKey(listener: Listener, key: LiveKey | undefined): CloseCode | null {
  if (listener.kind !== 'key' && listener.kind !== 'ticket') return null;
  if (key === undefined) return CLOSE.unauthorized;
  if (listener.kind === 'key' && !listener.keyDigests.includes(key.digest)) return CLOSE.unauthorized;
  return requiredScopes(listener).every((scope) => key.scopes.includes(scope)) ? null : CLOSE.forbidden;
}

/** The same for an admin key. A connection shows binds as the role allowed when it connected. */
export function judgeAdminKey(listener: Listener, key: LiveAdminKey | undefined): CloseCode | null {
  if (listener.kind !== 'admin' || listener.keyId === null) return null;
  if (key === undefined || !listener.keyDigests.includes(key.digest)) return CLOSE.unauthorized;
  return key.role === listener.role ? null : CLOSE.forbidden;
}
