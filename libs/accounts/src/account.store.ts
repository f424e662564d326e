import { createApiKey, createWebhookSecret, parseApiKey, type ServerKeys } from '@countersign/keys';
import type { Executor, Uuid } from '@countersign/postgres';
import { SCOPES, type Account, type Brand, type Scope } from './account.js';
import { INSERT_ACCOUNT, INSERT_API_KEY, INSERT_BRAND, REVOKE_API_KEY } from './account.sql.js';
import { checkBrand } from './check-brand.js';

export interface AccountStoreOptions {
  readonly keys: ServerKeys;
  /** A new id by the database's clock. */
  newId(): Uuid;
}

export interface NewAccount {
  readonly name: string;
  readonly defaultWebhookUrl?: string | null;
  readonly webhookEvents?: readonly string[];
}

export interface NewBrand {
  readonly accountId: Uuid;
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  readonly entropyKeyVersion: number;
}

export interface NewApiKey {
  readonly accountId: Uuid;
  readonly kind: 'live' | 'test';
  readonly name: string;
  /** All by default. */
  readonly scopes?: readonly Scope[];
}

/** A brand that may not be saved; the field says where, the message why. */
export class BrandRefused extends Error {
  override readonly name = 'BrandRefused';

  constructor(
    readonly field: 'slug' | 'instruction',
    message: string,
  ) {
    super(`${field} ${message}`);
  }
}

/** Writes accounts, brands and keys, in the caller's transaction. Secrets are answered once and stored sealed or digested. */
export class AccountStore {
  constructor(private readonly options: AccountStoreOptions) {}

  /** A new active account with a webhook secret of its own. */
  async createAccount(tx: Executor, account: NewAccount): Promise<{ account: Account; webhookSecret: string }> {
    const id = this.options.newId();
    const webhookSecret = createWebhookSecret();
    const sealed = this.options.keys.seal('webhook-secret', webhookSecret, id);
    const { name, defaultWebhookUrl = null, webhookEvents = [] } = account;
    const rows = await tx.query<Account>(INSERT_ACCOUNT, [id, name, defaultWebhookUrl, webhookEvents, sealed]);
    return { account: written(rows), webhookSecret };
  }

  /** A new active brand. Throws BrandRefused for a text that does not fit, DataError 23505 for a slug that is taken. */
  async createBrand(tx: Executor, brand: NewBrand): Promise<Brand> {
    const check = checkBrand(brand);
    if (!check.ok) throw new BrandRefused(check.field, check.message);
    const { accountId, name, slug, instruction, entropyKeyVersion } = brand;
    const values = [this.options.newId(), accountId, name, slug, instruction, entropyKeyVersion];
    return written(await tx.query<Brand>(INSERT_BRAND, values));
  }

  /** A new key. Its text is in this answer and nowhere else. */
  async createApiKey(tx: Executor, apiKey: NewApiKey): Promise<{ id: Uuid; key: string; prefix: string }> {
    const id = this.options.newId();
    const key = createApiKey(apiKey.kind);
    const prefix = parseApiKey(key)?.prefix ?? '';
    const digest = this.options.keys.digest('api-key', key);
    const { accountId, kind, name, scopes = SCOPES } = apiKey;
    await tx.query(INSERT_API_KEY, [id, accountId, kind, name, scopes, prefix, digest]);
    return { id, key, prefix };
  }

  /** Revokes a key; false when it is unknown or was revoked before. */
  async revokeApiKey(tx: Executor, id: Uuid): Promise<boolean> {
    return (await tx.query(REVOKE_API_KEY, [id])).length === 1;
  }
}

function written<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('an insert answered no row');
  return row;
}
