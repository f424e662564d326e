import type { AccountDirectory, LiveKey, Scope } from '@countersign/accounts/accounts';
import type { AdminKeyDirectory, LiveAdminKey } from '@countersign/accounts/admin-keys';
import type { Uuid } from '@countersign/ids';
import { PollLoop } from '@countersign/schedule';
import { CLOSE, type CloseCode } from './close-codes.js';
import type { Listener } from './connection-rules.js';
import type { RealtimeConnection } from './realtime-connection.js';

/**
 * Revocation acts on open connections within 5 s (contract, Authentication), also on one that was let in after it by what
 * was known of the key for up to 3 s.
 */
const LOOK_EVERY_MS = 1_500;
/** Keys in one statement at most. */
const MAX_SET = 1_000;

type Watched = Pick<RealtimeConnection, 'listener' | 'close'>;

export interface KeyRevocationPollerOptions {
  readonly directory: Pick<AccountDirectory, 'liveKeys'>;
  readonly adminKeys: Pick<AdminKeyDirectory, 'liveKeys'>;
  readonly connections: Iterable<Watched>;
  readonly onError: (error: unknown) => void;
}

/** Asks now and then after the keys that opened connections, or asked for their tickets, and ends those that lost theirs. */
export class KeyRevocationPoller {
  readonly #periodic: PollLoop;

  constructor(private readonly o: KeyRevocationPollerOptions) {
    this.#periodic = new PollLoop({ everyMs: LOOK_EVERY_MS, work: () => this.look(), onError: o.onError });
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  private async look(): Promise<boolean> {
    const { directory, adminKeys } = this.o;
    await this.closeWithoutKey(this.byKey(accountKeyOf), (ids) => directory.liveKeys(ids), judgeKey);
    await this.closeWithoutKey(this.byKey(adminKeyOf), (ids) => adminKeys.liveKeys(ids), judgeAdminKey);
    return false;
  }

  private async closeWithoutKey<Key>(
    byKey: ReadonlyMap<Uuid, readonly Watched[]>,
    find: (ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Key>>,
    judge: (listener: Listener, key: Key | undefined) => CloseCode | null,
  ): Promise<void> {
    const ids = [...byKey.keys()];
    for (let at = 0; at < ids.length; at += MAX_SET) {
      const asked = ids.slice(at, at + MAX_SET);
      const live = await find(asked);
      for (const id of asked) {
        for (const connection of byKey.get(id) ?? []) {
          const code = judge(connection.listener, live.get(id));
          if (code !== null) connection.close(code);
        }
      }
    }
  }

  private byKey(keyOf: (listener: Listener) => Uuid | null): Map<Uuid, Watched[]> {
    const byKey = new Map<Uuid, Watched[]>();
    for (const connection of this.o.connections) {
      const keyId = keyOf(connection.listener);
      if (keyId === null) continue;
      const same = byKey.get(keyId);
      if (same === undefined) byKey.set(keyId, [connection]);
      else same.push(connection);
    }
    return byKey;
  }
}

/** The scopes that the key of a connection must still have. A connection that is shown whole sessions needs `verify`. */
function requiredScopes(listener: Extract<Listener, { kind: 'key' | 'ticket' }>): readonly Scope[] {
  if (listener.kind === 'ticket') return ['verify'];
  return listener.view === 'full' ? ['realtime', 'verify'] : ['realtime'];
}

const accountKeyOf = (listener: Listener): Uuid | null =>
  listener.kind === 'key' || listener.kind === 'ticket' ? listener.keyId : null;

const adminKeyOf = (listener: Listener): Uuid | null => (listener.kind === 'admin' ? listener.keyId : null);

/** Why a connection ends now that its key is as it is, or null. Tickets outlive a rotation, which takes only the old text. */
export function judgeKey(listener: Listener, key: LiveKey | undefined): CloseCode | null {
  if (listener.kind !== 'key' && listener.kind !== 'ticket') return null;
  if (key === undefined) return CLOSE.unauthorized;
  if (listener.kind === 'key' && !listener.keyDigests.includes(key.digest)) return CLOSE.unauthorized;
  return requiredScopes(listener).every((scope) => key.scopes.includes(scope)) ? null : CLOSE.forbidden;
}

/** The same for an admin key. Every role may subscribe, so a changed role closes no connection. */
export function judgeAdminKey(listener: Listener, key: LiveAdminKey | undefined): CloseCode | null {
  if (listener.kind !== 'admin' || listener.keyId === null) return null;
  return key !== undefined && listener.keyDigests.includes(key.digest) ? null : CLOSE.unauthorized;
}
