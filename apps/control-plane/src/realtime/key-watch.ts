import type { AccountDirectory } from '@countersign/accounts';
import { Periodic } from '@countersign/postgres';
import { CLOSE } from './close-codes.js';
import type { RealtimeConnection } from './realtime-connection.js';

/** Revocation acts on open connections within 5 s (contract, Authentication). */
const LOOK_EVERY_MS = 2_000;
/** Keys in one statement at most. */
const MAX_SET = 1_000;

export interface KeyWatchOptions {
  readonly directory: Pick<AccountDirectory, 'scopesOf'>;
  readonly connections: Iterable<RealtimeConnection>;
  readonly onError: (error: unknown) => void;
}

/** Asks now and then what the keys may do that opened the connections, and ends those whose key was revoked. */
export class KeyWatch {
  readonly #periodic: Periodic;

  constructor(private readonly o: KeyWatchOptions) {
    this.#periodic = new Periodic({ everyMs: LOOK_EVERY_MS, work: () => this.look(), onError: o.onError });
  }

  stop(): Promise<void> {
    return this.#periodic.stop();
  }

  private async look(): Promise<boolean> {
    const byKey = new Map<string, RealtimeConnection[]>();
    for (const connection of this.o.connections) {
      const { keyDigest } = connection;
      if (keyDigest === null) continue;
      const same = byKey.get(keyDigest);
      if (same === undefined) byKey.set(keyDigest, [connection]);
      else same.push(connection);
    }
    const digests = [...byKey.keys()];
    for (let at = 0; at < digests.length; at += MAX_SET) {
      const asked = digests.slice(at, at + MAX_SET);
      const scopes = await this.o.directory.scopesOf(asked);
      for (const digest of asked) endThose(byKey.get(digest) ?? [], scopes.get(digest));
    }
    return false;
  }
}

function endThose(connections: readonly RealtimeConnection[], scopes: readonly string[] | undefined): void {
  if (scopes?.includes('realtime') === true) return;
  const code = scopes === undefined ? CLOSE.unauthorized : CLOSE.forbidden;
  for (const connection of connections) connection.close(code);
}
