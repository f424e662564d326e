import { AccountStore, type ApiKey } from '@countersign/accounts/accounts';
import { API_KEYS } from '@countersign/accounts/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import { accountIdOf, NO_SUCH_ACCOUNT, type CrudResource, type Reply } from '../crud/admin-resource.js';
import { limitsOf } from './key-limits.js';
import type { Plain } from '../crud/plain.js';
import type { KeyChange, KeyDraft } from './key.dto.js';
import { type KeyAnswer, keyView } from './key.view.js';

type Answer = Plain<KeyAnswer>;

@Injectable()
export class KeyResource implements CrudResource<ApiKey, Answer, KeyDraft, KeyChange> {
  readonly name = 'keys';
  readonly noun = 'key';
  readonly idPrefix = 'key';
  readonly table = API_KEYS;
  readonly view = keyView;
  readonly refusals = { api_keys_account_id_fkey: NO_SUCH_ACCOUNT };

  constructor(private readonly accounts: AccountStore) {}

  async create(tx: Executor, { accountId: sentId, kind, name, ...rest }: KeyDraft): Reply<ApiKey, Answer> {
    const accountId = accountIdOf(sentId);
    if (accountId === null) return { ok: false, refusal: NO_SUCH_ACCOUNT };
    const { key, ...row } = await this.accounts.createApiKey(tx, { ...stored(rest), accountId, kind, name });
    return succeed({ row, once: { key } });
  }

  async update(tx: Executor, apiKey: ApiKey, change: KeyChange): Reply<ApiKey, Answer> {
    // Limits that an operator sets are a quota of the key's own, also of one that the account made.
    const quota = change.limits === undefined ? {} : { quotaId: null };
    return succeed({ row: await this.accounts.updateApiKey(tx, { ...apiKey, ...stored(change), ...quota }) });
  }

  /** Replaces the text of the key; the old text is refused like a revoked key. */
  async rotate(tx: Executor, apiKey: ApiKey): Reply<ApiKey, Answer> {
    if (apiKey.revokedAt !== null) {
      return refuse('CONFLICT', { message: 'This key is revoked and cannot be restored: create a new one.' });
    }
    const { key, ...row } = await this.accounts.rotateApiKey(tx, apiKey, null);
    return succeed({ row, once: { key } });
  }

  /** A second call changes nothing. */
  async revoke(tx: Executor, apiKey: ApiKey): Reply<ApiKey, Answer> {
    return succeed({ row: (await this.accounts.revokeApiKey(tx, apiKey.id)) ?? apiKey });
  }
}

function stored({ limits, ...rest }: Plain<KeyChange>): Partial<ApiKey> {
  return { ...rest, ...(limits === undefined ? {} : { limits: limitsOf(limits) }) };
}
