import type { AccountDirectory, LiveKey } from '@countersign/accounts';
import { Periodic, type Uuid } from '@countersign/postgres';
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

export interface KeyWatchOptions {
  readonly directory: Pick<AccountDirectory, 'liveKeys'>;
  readonly connections: Iterable<Watched>;
  readonly onError: (error: unknown) => void;
}

/** Asks now and then after the keys that opened connections, or asked for their tickets, and ends those that lost theirs. */
export class KeyWatch {
  readonly #periodic: Periodic;

  constructor(private readonly o: KeyWatchOptions) {
    this.#periodic = new Periodic({ everyMs: LOOK_EVERY_MS, work: () => this.look(), onError: o.onError });
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  private async look(): Promise<boolean> {
    const byKey = this.byKey();
    const ids = [...byKey.keys()];
    for (let at = 0; at < ids.length; at += MAX_SET) {
      const asked = ids.slice(at, at + MAX_SET);
      const live = await this.o.directory.liveKeys(asked);
      for (const id of asked) {
        for (const connection of byKey.get(id) ?? []) {
          const code = judgeKey(connection.listener, live.get(id));
          if (code !== null) connection.close(code);
        }
      }
    }
    return false;
  }

  private byKey(): Map<Uuid, Watched[]> {
    const byKey = new Map<Uuid, Watched[]>();
    for (const connection of this.o.connections) {
      const { listener } = connection;
      if (listener.kind !== 'key' && listener.kind !== 'ticket') continue;
      const same = byKey.get(listener.keyId);
      if (same === undefined) byKey.set(listener.keyId, [connection]);
      else same.push(connection);
    }
    return byKey;
  }
}

/** Why a connection ends now that its key is as it is, or null. Tickets outlive a rotation, which takes only the old text. */
export function judgeKey(listener: Listener, key: LiveKey | undefined): CloseCode | null {
  if (listener.kind !== 'key' && listener.kind !== 'ticket') return null;
  if (key === undefined) return CLOSE.unauthorized;
  if (listener.kind === 'key' && !listener.keyDigests.includes(key.digest)) return CLOSE.unauthorized;
  const scope = listener.kind === 'key' ? 'realtime' : 'verify';
  return key.scopes.includes(scope) ? null : CLOSE.forbidden;
}
