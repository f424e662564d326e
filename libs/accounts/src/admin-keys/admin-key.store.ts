import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { CLOCK_MS, type Executor } from '@countersign/postgres';
import type { AdminRole } from './admin-key.js';
import { type AdminKey, ADMIN_KEYS } from './admin-key.entity.js';
import { END_SESSIONS_OF_KEY, HOLD_ADMIN_KEY } from './admin-key.sql.js';
import { newKey } from '../keys/new-key.js';

export interface AdminKeyStoreOptions {
  readonly keys: ServerKeys;
  /** A new id from the database's clock. */
  newId(): Uuid;
}

/** An admin key with its text, which only this result contains. */
export type ShownAdminKey = AdminKey & { readonly key: string };

type NewAdminKey = Pick<AdminKey, 'name' | 'role'> & Partial<Pick<AdminKey, 'phone'>>;

/**
 * Writes admin keys, in the caller's transaction. Updates expect a locked, complete row. Throws DataError 23505
 * (`admin_keys_name_key`) for the name of another key that is not revoked, ignoring case.
 */
export class AdminKeyStore {
  constructor(private readonly options: AdminKeyStoreOptions) {}

  async create(tx: Executor, { name, role, phone = null }: NewAdminKey): Promise<ShownAdminKey> {
    const { key, ...secret } = newKey(this.options.keys, 'admin');
    return { ...(await ADMIN_KEYS.insert(tx, { id: this.options.newId(), name, role, phone, ...secret })), key };
  }

  /** Writes name, role and phone. Another phone ends the sessions of the console that the key has opened. */
  async update(tx: Executor, before: AdminKey, { name, role, phone }: AdminKey): Promise<AdminKey> {
    if (phone !== before.phone) await tx.query(END_SESSIONS_OF_KEY, [before.id]);
    return ADMIN_KEYS.update(tx, before.id, { name, role, phone });
  }

  /**
   * The role of a key that is not revoked and has one of these digests (hex), else null. A transaction that changes the key waits for
   * this one.
   */
  async holdRole(tx: Executor, id: Uuid, digests: readonly string[]): Promise<AdminRole | null> {
    const [key] = await tx.query<{ role: AdminRole }>(HOLD_ADMIN_KEY, [id, digests]);
    return key?.role ?? null;
  }

  /** Replaces the text of the key; the old one is then invalid. The key must be locked, and not revoked. */
  async rotate(tx: Executor, { id }: AdminKey): Promise<ShownAdminKey> {
    const { key, ...secret } = newKey(this.options.keys, 'admin');
    return { ...(await ADMIN_KEYS.update(tx, id, secret)), key };
  }

  /** Null when the key is unknown or already revoked. */
  async revoke(tx: Executor, id: Uuid): Promise<AdminKey | null> {
    const key = await ADMIN_KEYS.lock(tx, id);
    if (key === null || key.revokedAt !== null) return null;
    return ADMIN_KEYS.update(tx, id, { revokedAt: () => CLOCK_MS });
  }
}
