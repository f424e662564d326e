import { createWebhookSecret, type ServerKeys, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { SCOPES, type Account, type ApiKey, type Brand } from './account.js';
import {
  INSERT_ACCOUNT,
  INSERT_API_KEY,
  INSERT_BRAND,
  REVOKE_API_KEY,
  ROTATE_API_KEY,
  ROTATE_WEBHOOK_SECRET,
  SECRET_OVER_IN,
  UPDATE_ACCOUNT,
  UPDATE_API_KEY,
  UPDATE_BRAND,
} from './account.sql.js';
import { checkBrand, type BrandText } from './check-brand.js';
import { newKey } from '../keys/new-key.js';
import { ensureTestWebhookSecret, sealWebhookSecret } from './webhook-secrets.js';

export interface AccountStoreOptions {
  readonly keys: ServerKeys;
  /** A new id from the database's clock. */
  newId(): Uuid;
}

type Defaulted<Whole, Required extends keyof Whole> = Pick<Whole, Required> & Partial<Omit<Whole, Required>>;

/** A new account; every field except the name has a default. By default codes are sent to no country. */
export type NewAccount = Defaulted<Omit<Account, 'id' | keyof Disabled>, 'name'>;

/** Fields that are set when a default URL is disabled. */
type Disabled = Pick<Account, 'defaultWebhookDisabledAt' | 'defaultWebhookDisabledReason'>;

/** A new brand; fields for cards and codes have defaults. */
export type NewBrand = Defaulted<
  Omit<Brand, 'id'>,
  'accountId' | 'name' | 'slug' | 'instruction' | 'entropyKeyVersion'
>;

/** A new key; by default it has all scopes and the usual limits. */
export type NewApiKey = Defaulted<
  Pick<ApiKey, 'accountId' | 'kind' | 'name' | 'scopes' | 'limits'>,
  'accountId' | 'kind' | 'name'
>;

/** How long a replaced webhook secret signs beside the new one (contract, Webhooks). */
const SECRET_OVERLAP_HOURS = 24;
/**
 * Maximum number of replaced secrets that still sign: each keeps its promised time, so a further rotation has to
 * wait. Together with the current one they are as many as the SDK checks.
 */
export const MAX_REPLACED_SECRETS = 7;

/** A new secret and until when the replaced one still signs, or when a rotation is possible again. */
export type SecretRotation =
  | { readonly ok: true; readonly secret: string; readonly previousUntil: Date }
  | { readonly ok: false; readonly retryAfterSeconds: number };

/** A new account with its secrets, which are readable in this result only. */
export interface CreatedAccount {
  readonly account: Account;
  readonly webhookSecret: string;
  readonly testWebhookSecret: string;
}

const ACCOUNT_DEFAULTS = {
  defaultWebhookUrl: null,
  testWebhookUrl: null,
  webhookEvents: [],
  otpCountries: [],
  otpDailySpendCapUsd: null,
  otpDailyMessageCap: 1_000,
  otpUnconvertedFloor: 50,
  active: true,
} as const;

const BRAND_DEFAULTS = {
  logoUrl: null,
  rcsAgentId: null,
  rcsNumberMatching: false,
  senderId: null,
  domain: null,
  active: true,
} as const;

/** A brand that was rejected, with the field and the reason. */
export class BrandRefused extends Error {
  override readonly name = 'BrandRefused';

  constructor(
    readonly field: keyof BrandText,
    message: string,
  ) {
    super(`${field} ${message}`);
  }
}

/**
 * Writes accounts, brands and keys, in the caller's transaction. Secrets are returned once and stored sealed or
 * digested. Updates expect a locked, complete row.
 */
export class AccountStore {
  constructor(private readonly options: AccountStoreOptions) {}

  /** Creates an account with its own webhook secrets. */
  async createAccount(tx: Executor, account: NewAccount): Promise<CreatedAccount> {
    const { keys } = this.options;
    const id = this.options.newId();
    const [webhookSecret, testWebhookSecret] = [createWebhookSecret(), createWebhookSecret()];
    const values = [
      ...accountValues({ ...ACCOUNT_DEFAULTS, ...account, id }),
      sealWebhookSecret(keys, { accountId: id, mode: 'live' }, webhookSecret),
      sealWebhookSecret(keys, { accountId: id, mode: 'test' }, testWebhookSecret),
    ];
    const created = requireRow(await tx.query<Account>(INSERT_ACCOUNT, values));
    return { account: created, webhookSecret, testWebhookSecret };
  }

  async updateAccount(tx: Executor, account: Account): Promise<Account> {
    const { defaultWebhookDisabledAt, defaultWebhookDisabledReason } = account;
    const values = [...accountValues(account), defaultWebhookDisabledAt, defaultWebhookDisabledReason];
    return requireRow(await tx.query<Account>(UPDATE_ACCOUNT, values));
  }

  /**
   * Creates a new secret for a tenant's webhooks; the replaced one signs too until `previousUntil`, and earlier ones
   * until their promised time. The account must exist.
   */
  async rotateWebhookSecret(tx: Executor, tenant: Tenant): Promise<SecretRotation> {
    const { keys } = this.options;
    const { accountId: id, mode } = tenant;
    if (mode === 'test') await ensureTestWebhookSecret(tx, keys, id);
    const secret = createWebhookSecret();
    const values = [id, sealWebhookSecret(keys, tenant, secret), SECRET_OVERLAP_HOURS, MAX_REPLACED_SECRETS];
    const [rotated] = await tx.query<{ previousUntil: Date }>(ROTATE_WEBHOOK_SECRET[mode], values);
    if (rotated !== undefined) return { ok: true, secret, ...rotated };
    const { seconds } = requireRow(await tx.query<{ seconds: number | null }>(SECRET_OVER_IN[mode], [id]));
    return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(seconds ?? 1)) };
  }

  /** Creates a brand. Throws BrandRefused for a text that does not fit, DataError 23505 for an existing slug. */
  async createBrand(tx: Executor, brand: NewBrand): Promise<Brand> {
    const whole = { ...BRAND_DEFAULTS, ...brand, id: this.options.newId() };
    const values = [...brandValues(whole), brand.accountId, brand.entropyKeyVersion];
    return requireRow(await tx.query<Brand>(INSERT_BRAND, values));
  }

  /** Throws as `createBrand`. Does not change the account and the entropy key. */
  async updateBrand(tx: Executor, brand: Brand): Promise<Brand> {
    return requireRow(await tx.query<Brand>(UPDATE_BRAND, brandValues(brand)));
  }

  /** Creates a key. Its text is in this result only. */
  async createApiKey(tx: Executor, apiKey: NewApiKey): Promise<ApiKey & { readonly key: string }> {
    const { accountId, kind, name, scopes = SCOPES, limits = {} } = apiKey;
    const { key, prefix, digest, version } = newKey(this.options.keys, kind);
    const values = [
      this.options.newId(),
      accountId,
      kind,
      name,
      scopes,
      JSON.stringify(limits),
      prefix,
      digest,
      version,
    ];
    return { ...requireRow(await tx.query<ApiKey>(INSERT_API_KEY, values)), key };
  }

  /** Writes name, scopes and limits. */
  async updateApiKey(tx: Executor, { id, name, scopes, limits }: ApiKey): Promise<ApiKey> {
    return requireRow(await tx.query<ApiKey>(UPDATE_API_KEY, [id, name, scopes, JSON.stringify(limits)]));
  }

  /** Replaces the secret of a key; the old one is invalid. The key must be locked, and not revoked. */
  async rotateApiKey(tx: Executor, { id, kind }: ApiKey): Promise<ApiKey & { readonly key: string }> {
    const { key, prefix, digest, version } = newKey(this.options.keys, kind);
    return { ...requireRow(await tx.query<ApiKey>(ROTATE_API_KEY, [id, prefix, digest, version])), key };
  }

  /** Revokes a key; null when it is unknown or already revoked. */
  async revokeApiKey(tx: Executor, id: Uuid): Promise<ApiKey | null> {
    const [revoked] = await tx.query<ApiKey>(REVOKE_API_KEY, [id]);
    return revoked ?? null;
  }
}

function accountValues(account: Omit<Account, keyof Disabled>): unknown[] {
  const { id, name, defaultWebhookUrl, testWebhookUrl, webhookEvents, otpCountries, otpDailySpendCapUsd } = account;
  return [
    ...[id, name, defaultWebhookUrl, webhookEvents, otpCountries, otpDailySpendCapUsd, account.active],
    ...[account.otpDailyMessageCap, account.otpUnconvertedFloor, testWebhookUrl],
  ];
}

function brandValues(brand: Brand): unknown[] {
  const check = checkBrand(brand);
  if (!check.ok) throw new BrandRefused(check.field, check.message);
  const { id, name, slug, instruction, logoUrl, rcsAgentId, rcsNumberMatching, senderId, domain, active } = brand;
  return [id, name, slug, instruction, logoUrl, rcsAgentId, rcsNumberMatching, senderId, domain, active];
}
