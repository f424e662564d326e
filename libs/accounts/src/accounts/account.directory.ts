import { MODES, parseApiKey, parseTenantKey, tenantKey, type ServerKeys, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { RowCache } from '@countersign/resilience';
import { type ApiKeyPrincipal, type KeyLimits, limitsInQuota, type Scope } from './account.js';
import type { Account } from './account.entity.js';
import { FIND_ACCOUNT, FIND_API_KEYS, FIND_BRAND, FIND_LIVE_KEYS, FIND_WEBHOOK_SECRETS } from './account.sql.js';
import type { Brand } from './brand.entity.js';
import { type DigestRow, KeyLookups } from '../key-lookups.js';
import { cacheKeyOf, digestsOfCacheKey, type DigestRenewals, outdatedDigest } from '../keys/outdated-digest.js';
import { ensureTestWebhookSecret, openWebhookSecret } from './webhook-secrets.js';

/** An API key that is not revoked, of an active account. */
export interface LiveKey {
  /** Hex keyed digest; it changes when the key is rotated. */
  readonly digest: string;
  readonly scopes: readonly Scope[];
}

interface QuotaRow {
  readonly quotaId: Uuid | null;
  /** Of the key whose quota is used. */
  readonly limitsOfQuota: KeyLimits | null;
}

type KeyRow = Omit<ApiKeyPrincipal, 'tenant' | 'quotaId'> &
  DigestRow &
  QuotaRow & { readonly accountId: Uuid; readonly digestVersion: number };

/**
 * Accounts, brands and keys for requests, read through a copy that is at most 3 s old: a revoked key is rejected
 * within that time and a new one works at once. Rejects with DatabaseUnavailable when rows have to be read and the
 * database is unavailable.
 */
export class AccountDirectory {
  private readonly keyLookups: KeyLookups<KeyRow>;
  private readonly keyCache: RowCache<ApiKeyPrincipal>;
  private readonly brandCache: RowCache<Brand>;
  private readonly accountCache: RowCache<Account>;
  private readonly secretCache: RowCache<readonly string[]>;

  constructor(
    private readonly db: Executor,
    private readonly keys: ServerKeys,
    private readonly renewals?: DigestRenewals,
  ) {
    this.keyLookups = new KeyLookups(db, 'api-key.find', FIND_API_KEYS);
    this.keyCache = new RowCache({ load: (digests) => this.findKey(digestsOfCacheKey(digests)) });
    this.brandCache = new RowCache({ load: (id) => this.findOne(FIND_BRAND, id) });
    this.accountCache = new RowCache({ load: (id) => this.findOne(FIND_ACCOUNT, id) });
    this.secretCache = new RowCache({ load: (key) => this.openSecrets(key) });
  }

  /**
   * The principal of a key, or null. A key with a wrong checksum never reaches the database; an admin key gives null
   * here (see AdminKeyDirectory). The cache is keyed by digests, not keys; the row has one of the digests, whichever
   * process wrote it.
   */
  async authenticate(apiKey: string): Promise<ApiKeyPrincipal | null> {
    const parsed = parseApiKey(apiKey);
    if (parsed === null || parsed.kind === 'admin') return null;
    return this.keyCache.get(cacheKeyOf(this.keys.digests('api-key', apiKey)));
  }

  /**
   * Current rows of keys by id; revoked ones are left out. Not cached: for long-lived users of an authenticated key.
   */
  async liveKeys(ids: readonly Uuid[]): Promise<Map<Uuid, LiveKey>> {
    const rows = await this.db.query<LiveKey & { id: Uuid }>(FIND_LIVE_KEYS, [ids]);
    return new Map(rows.map(({ id, ...key }) => [id, key]));
  }

  /** A brand, active or not; null for an unknown id. */
  brand(id: Uuid): Promise<Brand | null> {
    return this.brandCache.get(id);
  }

  /** An account, active or not; null for an unknown id. */
  account(id: Uuid): Promise<Account | null> {
    return this.accountCache.get(id);
  }

  /**
   * The secrets that sign a tenant's webhooks, `whsec_…`: one, or for a while after a rotation the new one and the
   * replaced ones. Throws for an unknown account.
   */
  async webhookSecrets(tenant: Tenant): Promise<readonly string[]> {
    const secrets = await this.secretCache.get(tenantKey(tenant));
    if (secrets === null) throw new Error('unknown account');
    return secrets;
  }

  /** Call after a rotation: the next read goes to the database. */
  forgetWebhookSecrets(accountId: Uuid): void {
    for (const mode of MODES) this.secretCache.forget(tenantKey({ accountId, mode }));
  }

  private async findOne<Row extends object>(statement: string, key: unknown): Promise<Row | null> {
    const [row] = await this.db.query<Row>(statement, [key]);
    return row ?? null;
  }

  /** @param digests under every version of the master key, the current one first */
  private async findKey(digests: readonly Buffer[]): Promise<ApiKeyPrincipal | null> {
    const row = await this.keyLookups.find(digests);
    if (row === null) return null;
    const { keyId, kind, accountId, scopes, limits, quotaId, limitsOfQuota } = row;
    const outdated = outdatedDigest(this.keys, row, digests);
    if (outdated !== null) this.renewals?.requestRenewal(outdated);
    const principal = { keyId, kind, tenant: { accountId, mode: kind }, scopes };
    if (quotaId === null) return { ...principal, limits };
    return { ...principal, quotaId, limits: limitsInQuota(limits, limitsOfQuota) };
  }

  private async openSecrets(key: string): Promise<string[] | null> {
    const tenant = parseTenantKey(key);
    const { accountId, mode } = tenant;
    const row = await this.findOne<{ sealed: Buffer | null; previous: Buffer[] }>(
      FIND_WEBHOOK_SECRETS[mode],
      accountId,
    );
    if (row === null) return null;
    const sealed = row.sealed ?? (await ensureTestWebhookSecret(this.db, this.keys, accountId));
    return [sealed, ...row.previous].map((secret) => openWebhookSecret(this.keys, tenant, secret));
  }
}
