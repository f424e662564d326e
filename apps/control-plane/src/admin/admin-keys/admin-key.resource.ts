import { type AdminKey, AdminKeyStore } from '@countersign/accounts/admin-keys';
import { ADMIN_KEYS } from '@countersign/accounts/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import type { CrudResource, Reply } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import type { AdminKeyChange, AdminKeyDraft } from './admin-key.dto.js';
import { type AdminKeyAnswer, adminKeyView } from './admin-key.view.js';

type Answer = Plain<AdminKeyAnswer>;

@Injectable()
export class AdminKeyResource implements CrudResource<AdminKey, Answer, AdminKeyDraft, AdminKeyChange> {
  readonly name = 'admin-keys';
  readonly noun = 'admin key';
  readonly idPrefix = 'akey';
  readonly showsPeople = true;
  readonly table = ADMIN_KEYS;
  readonly view = adminKeyView;
  readonly refusals = {
    admin_keys_name_key: { code: 'CONFLICT', field: 'name', message: 'Another admin key has this name.' },
  } as const;

  constructor(private readonly adminKeys: AdminKeyStore) {}

  async create(tx: Executor, { name, role, phone = null }: AdminKeyDraft): Reply<AdminKey, Answer> {
    const { key, ...row } = await this.adminKeys.create(tx, { name, role, phone });
    return succeed({ row, once: { key } });
  }

  async update(tx: Executor, adminKey: AdminKey, change: AdminKeyChange): Reply<AdminKey, Answer> {
    const { name = adminKey.name, role = adminKey.role, phone = adminKey.phone } = change;
    return succeed({ row: await this.adminKeys.update(tx, adminKey, { ...adminKey, name, role, phone }) });
  }

  /** Replaces the text of the key; the old text is refused within the same time as a revoked key. */
  async rotate(tx: Executor, adminKey: AdminKey): Reply<AdminKey, Answer> {
    if (adminKey.revokedAt !== null) {
      return refuse('CONFLICT', { message: 'This admin key is revoked and cannot be restored: create a new one.' });
    }
    const { key, ...row } = await this.adminKeys.rotate(tx, adminKey);
    return succeed({ row, once: { key } });
  }

  /** A second call changes nothing. */
  async revoke(tx: Executor, adminKey: AdminKey): Reply<AdminKey, Answer> {
    return succeed({ row: (await this.adminKeys.revoke(tx, adminKey.id)) ?? adminKey });
  }
}
