import { digestsEqual, parseApiKey, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { type AdminPrincipal, type AdminRole, ROOT_NAME } from './admin-key.js';
import { FIND_ADMIN_KEYS, FIND_LIVE_ADMIN_KEYS } from './admin-key.sql.js';
import { type DigestRow, KeyLookups } from '../key-lookups.js';
import { cacheKeyOf, digestsOfCacheKey, type DigestRenewals, outdatedDigest } from '../keys/outdated-digest.js';

/** An admin key that is not revoked. */
export interface LiveAdminKey {
  /** The keyed digest in hex, under any version of the master key; it changes when the key is rotated. */
  readonly digest: string;
  readonly role: AdminRole;
}

interface KeyRow extends DigestRow {
  readonly keyId: Uuid;
  readonly name: string;
  readonly role: AdminRole;
  readonly digestVersion: number;
}

/**
 * Admin keys through a cache that is at most 3 s old: a revoked key and a changed role take effect within that time,
 * a new key works at once. Rejects with DatabaseUnavailable when a row has to be read and the database is
 * unavailable; the key of the environment needs no database.
 */
export class AdminKeyDirectory {
  private readonly lookups: KeyLookups<KeyRow>;
  private readonly cache: RowCache<AdminPrincipal>;
  private readonly rootDigest: Buffer;
  private readonly root: AdminPrincipal = { kind: 'admin', keyId: null, name: ROOT_NAME, role: 'owner' };

  /** `adminKey` is the key of the environment: an owner named `root`. */
  constructor(
    private readonly db: Executor,
    private readonly keys: ServerKeys,
    { adminKey }: { readonly adminKey: string },
    private readonly renewals?: DigestRenewals,
  ) {
    this.rootDigest = keys.digest('api-key', adminKey);
    this.lookups = new KeyLookups(db, 'admin-key.find', FIND_ADMIN_KEYS);
    this.cache = new RowCache({ load: (digests) => this.find(digestsOfCacheKey(digests)) });
  }

  /** The holder of an admin key, or null. A key with a wrong checksum never reaches the database. */
  async authenticate(adminKey: string): Promise<AdminPrincipal | null> {
    const digests = this.keys.digests('api-key', adminKey);
    if (digestsEqual(digests[0], this.rootDigest)) return this.root;
    if (parseApiKey(adminKey)?.kind !== 'admin') return null;
    return this.cache.get(cacheKeyOf(digests));
  }

  /** Some keys by their ids, read from the database; revoked ones are left out. */
  async liveKeys(ids: readonly Uuid[]): Promise<Map<Uuid, LiveAdminKey>> {
    const rows = await this.db.query<LiveAdminKey & { id: Uuid }>(FIND_LIVE_ADMIN_KEYS, [ids]);
    return new Map(rows.map(({ id, ...key }) => [id, key]));
  }

  /** @param digests under every version of the master key, the current one first */
  private async find(digests: readonly Buffer[]): Promise<AdminPrincipal | null> {
    const row = await this.lookups.find(digests);
    if (row === null) return null;
    const outdated = outdatedDigest(this.keys, row, digests);
    if (outdated !== null) this.renewals?.requestRenewal(outdated);
    const { keyId, name, role } = row;
    return { kind: 'admin', keyId, name, role };
  }
}
