import { createWebhookSecret, type ServerKeys, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { CLOCK_MS, requireRow, type Executor } from '@countersign/postgres';
import { type Account, ACCOUNTS } from './account.entity.js';
import {
  CLEAR_FAILURES,
  COUNT_RECENT_KEYS,
  HOLD_API_KEY,
  KEYS_OF_MEMBER,
  LARGEST_LIMITS,
  ROTATE_WEBHOOK_SECRET,
  SECRET_OVER_IN,
} from './account.sql.js';
import { DEFAULT_SCOPES, LIMIT_NAMES, limitsInQuota, USUAL_LIMITS, type KeyLimits, type LimitName } from './account.js';
import { type ApiKey, API_KEYS } from './api-key.entity.js';
import { type Brand, BRANDS } from './brand.entity.js';
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

/** A new key; by default it has DEFAULT_SCOPES, the usual limits and a quota of its own. */
export type NewApiKey = Defaulted<
  Pick<ApiKey, 'accountId' | 'kind' | 'name' | 'scopes' | 'limits' | 'quotaId' | 'memberId'>,
  'accountId' | 'kind' | 'name'
>;

/** The rights of a key. Its limits are no higher than those of the key whose quota it uses. */
type HeldKey = Pick<ApiKey, 'scopes' | 'limits' | 'quotaId' | 'memberId'>;

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
    const created = await ACCOUNTS.insert(tx, {
      ...account,
      id,
      webhookSecretSealed: sealWebhookSecret(keys, { accountId: id, mode: 'live' }, webhookSecret),
      testWebhookSecretSealed: sealWebhookSecret(keys, { accountId: id, mode: 'test' }, testWebhookSecret),
    });
    return { account: created, webhookSecret, testWebhookSecret };
  }

  /** Writes all fields. A new or re-enabled default URL has no failures. */
  async updateAccount(tx: Executor, { id, ...account }: Account): Promise<Account> {
    await tx.query(CLEAR_FAILURES, [id, account.defaultWebhookUrl, account.defaultWebhookDisabledAt]);
    return ACCOUNTS.update(tx, id, account);
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
    requireFit({ domain: null, ...brand });
    return BRANDS.insert(tx, { ...brand, id: this.options.newId() });
  }

  /** Throws as `createBrand`. Does not change the account and the entropy key. */
  async updateBrand(tx: Executor, { id, ...brand }: Brand): Promise<Brand> {
    requireFit(brand);
    return BRANDS.update(tx, id, brand);
  }

  /** Creates a key. Its text is in this result only. */
  async createApiKey(tx: Executor, apiKey: NewApiKey): Promise<ApiKey & { readonly key: string }> {
    const { key, ...secret } = newKey(this.options.keys, apiKey.kind);
    const values = { scopes: DEFAULT_SCOPES, ...apiKey, ...secret, id: this.options.newId() };
    return { ...(await API_KEYS.insert(tx, values)), key };
  }

  /**
   * The number of keys of a tenant that are not revoked or were created within a day. Exact while the account's row is
   * locked.
   */
  async countRecentKeys(tx: Executor, { accountId, mode }: Tenant): Promise<number> {
    return requireRow(await tx.query<{ keys: number }>(COUNT_RECENT_KEYS, [accountId, mode])).keys;
  }

  /** The limits that a tenant's keys have at most, each of any of them; the usual ones for a tenant without keys. */
  async largestLimits(tx: Executor, { accountId, mode }: Tenant): Promise<Required<KeyLimits>> {
    const values = [accountId, mode, JSON.stringify(USUAL_LIMITS)];
    const largest = requireRow(await tx.query<Record<LimitName, number | null>>(LARGEST_LIMITS, values));
    const found = LIMIT_NAMES.map((name) => [name, largest[name] ?? USUAL_LIMITS[name]] as const);
    return { ...USUAL_LIMITS, ...Object.fromEntries(found) };
  }

  /**
   * A key whose text was shown, with its present scopes and limits; null when it was revoked or rotated since. A change of the key
   * waits until the transaction ends. `digests` in hex.
   */
  async holdApiKey(tx: Executor, id: Uuid, digests: readonly string[]): Promise<HeldKey | null> {
    const [row] = await tx.query<HeldKey & { limitsOfQuota: KeyLimits | null }>(HOLD_API_KEY, [id, digests]);
    if (row === undefined) return null;
    const { limitsOfQuota, ...key } = row;
    return { ...key, limits: limitsInQuota(key.limits, limitsOfQuota) };
  }

  /** Writes name, scopes, limits and quota. */
  updateApiKey(tx: Executor, { id, name, scopes, limits, quotaId }: ApiKey): Promise<ApiKey> {
    return API_KEYS.update(tx, id, { name, scopes, limits, quotaId });
  }

  /** Replaces the secret of a key; the old one is invalid. The key must be locked, and not revoked. `memberId`: who learns the new one. */
  async rotateApiKey(
    tx: Executor,
    { id, kind }: ApiKey,
    memberId: Uuid | null,
  ): Promise<ApiKey & { readonly key: string }> {
    const { key, ...secret } = newKey(this.options.keys, kind);
    return { ...(await API_KEYS.update(tx, id, { ...secret, memberId })), key };
  }

  /**
   * The keys that are not revoked and whose text a member of the account knows; locked. A key that makes or rotates another meanwhile
   * is waited for, so the keys are read again until all of them are locked.
   */
  async lockKeysOfMember(tx: Executor, accountId: Uuid, memberId: Uuid): Promise<ApiKey[]> {
    const locked = new Map<Uuid, ApiKey | null>();
    let unlocked: Uuid[];
    do {
      const found = await tx.query<{ id: Uuid }>(KEYS_OF_MEMBER, [accountId, memberId]);
      unlocked = found.map(({ id }) => id).filter((id) => !locked.has(id));
      for (const id of unlocked) locked.set(id, await API_KEYS.lock(tx, id));
    } while (unlocked.length > 0);
    return [...locked.values()].flatMap((key) =>
      key !== null && key.revokedAt === null && key.memberId === memberId ? [key] : [],
    );
  }

  /** Revokes a key; null when it is unknown or already revoked. */
  async revokeApiKey(tx: Executor, id: Uuid): Promise<ApiKey | null> {
    const key = await API_KEYS.lock(tx, id);
    if (key === null || key.revokedAt !== null) return null;
    return API_KEYS.update(tx, id, { revokedAt: () => CLOCK_MS });
  }
}

function requireFit(brand: BrandText): void {
  const check = checkBrand(brand);
  if (!check.ok) throw new BrandRefused(check.field, check.message);
}
