import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import type { AdminKey } from './admin-key.js';
import { INSERT_ADMIN_KEY, REVOKE_ADMIN_KEY, ROTATE_ADMIN_KEY, UPDATE_ADMIN_KEY } from './admin-key.sql.js';
import { newKey } from '../keys/new-key.js';

export interface AdminKeyStoreOptions {
  readonly keys: ServerKeys;
  /** A new id from the database's clock. */
  newId(): Uuid;
}

/** An admin key with its text, which only this result contains. */
export type ShownAdminKey = AdminKey & { readonly key: string };

/**
 * Writes admin keys, in the caller's transaction. Updates expect a locked, complete row. Throws DataError 23505
 * (`admin_keys_name_key`) for the name of another key that is not revoked, ignoring case.
 */
export class AdminKeyStore {
  constructor(private readonly options: AdminKeyStoreOptions) {}

  async create(tx: Executor, { name, role }: Pick<AdminKey, 'name' | 'role'>): Promise<ShownAdminKey> {
    const { key, prefix, digest, version } = newKey(this.options.keys, 'admin');
    const values = [this.options.newId(), name, role, prefix, digest, version];
    return { ...requireRow(await tx.query<AdminKey>(INSERT_ADMIN_KEY, values)), key };
  }

  /** Writes name and role. */
  async update(tx: Executor, { id, name, role }: AdminKey): Promise<AdminKey> {
    return requireRow(await tx.query<AdminKey>(UPDATE_ADMIN_KEY, [id, name, role]));
  }

  /** Replaces the text of the key; the old one is then invalid. The key must be locked, and not revoked. */
  async rotate(tx: Executor, { id }: AdminKey): Promise<ShownAdminKey> {
    const { key, prefix, digest, version } = newKey(this.options.keys, 'admin');
    return { ...requireRow(await tx.query<AdminKey>(ROTATE_ADMIN_KEY, [id, prefix, digest, version])), key };
  }

  /** Null when the key is unknown or already revoked. */
  async revoke(tx: Executor, id: Uuid): Promise<AdminKey | null> {
    const [revoked] = await tx.query<AdminKey>(REVOKE_ADMIN_KEY, [id]);
    return revoked ?? null;
  }
}
