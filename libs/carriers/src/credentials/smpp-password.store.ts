import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import type { SmppSystem } from '../config/smpp-system.entity.js';
import { RENEW_SYSTEM_PASSWORD } from '../config/carrier.sql.js';
import { systemPasswordDigest } from '../config/smpp-password.js';

/** Renews password digests after a key rotation: only a bind contains the password. */
export class SystemPasswordStore {
  constructor(
    private readonly database: Executor,
    private readonly keys: ServerKeys,
  ) {}

  /**
   * Stores the digest of a matching password under the current version of the master key. Does nothing when the
   * stored digest already uses that version, or when the password was changed meanwhile.
   */
  async renew({ id, passwordDigest }: Pick<SmppSystem, 'id' | 'passwordDigest'>, password: string): Promise<void> {
    if (this.keys.versions.length === 1) return;
    const renewed = systemPasswordDigest(this.keys, id, password);
    if (digestsEqual(renewed, passwordDigest)) return;
    await this.database.query(RENEW_SYSTEM_PASSWORD, [id, passwordDigest, renewed, this.keys.currentVersion]);
  }
}
