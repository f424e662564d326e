import { type RotatedSecret, isRotatedSecret } from './delivery.js';
import { isCount, isObject, isText, isTextOrNull, type Page, pageOf } from './fields.js';
import { pathPart, queryText } from './paths.js';
import type { CallOptions, Transport } from './transport.js';

export type Scope = 'verify' | 'otp' | 'usage' | 'realtime' | 'webhooks' | 'account';

/** Requests a minute of a key, by policy. */
export type KeyLimits = Readonly<Partial<Record<'default' | 'create' | 'poll' | 'usage', number>>>;

/** The account of the key, and what an operator has set for it. */
export interface OwnAccount {
  readonly id: string;
  readonly name: string;
  readonly otpCountries: readonly string[];
  readonly otpDailySpendCapUsd: string | null;
  readonly otpDailyMessageCap: number;
  readonly otpUnconvertedFloor: number;
  /** The key of the call. */
  readonly key: {
    readonly id: string;
    readonly kind: 'live' | 'test';
    readonly scopes: readonly Scope[];
    readonly limits: KeyLimits;
  };
}

/** Where the events of the account go. */
export interface AccountWebhook {
  /** Absent for a test key. */
  readonly defaultWebhookUrl?: string | null;
  readonly defaultWebhookDisabledAt?: string;
  readonly defaultWebhookDisabledReason?: string;
  readonly testWebhookUrl: string | null;
  readonly webhookEvents: readonly string[];
}

/** Omitted fields are unchanged. */
export interface AccountWebhookChange {
  readonly defaultWebhookUrl?: string | null;
  readonly testWebhookUrl?: string | null;
  readonly webhookEvents?: readonly string[];
}

export interface AccountKey {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'live' | 'test';
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
  /** Its first characters. */
  readonly prefix: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** A key with its text, which only this answer has. */
export interface ShownAccountKey extends AccountKey {
  readonly key: string;
}

export interface NewAccountKey {
  readonly name: string;
  /** At most the scopes of the key of the call. */
  readonly scopes?: readonly Scope[];
}

export interface AccountBrand {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly instruction: string;
  readonly logoUrl: string | null;
  readonly domain: string | null;
  readonly active: boolean;
  /** Waits for an operator's approval. */
  readonly requested?: { readonly name?: string; readonly slug?: string };
  readonly requestRefusedAt?: string;
}

/** Omitted fields are unchanged. A new name or slug waits for an operator's approval. */
export interface AccountBrandChange {
  readonly name?: string;
  readonly slug?: string;
  readonly instruction?: string;
  readonly logoUrl?: string | null;
}

/** A request of the last 7 days: errors, and a sample of the rest. */
export interface AccountRequest {
  readonly id: string;
  readonly at: string;
  readonly keyId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly latencyMs: number;
}

export interface PageQuery {
  /** 1 to 100. */
  readonly limit?: number;
  readonly startingAfter?: string;
}

const PATH = '/v1/account';
const keyPath = (id: string): string => `${PATH}/keys/${pathPart(id, 'NOT_FOUND')}`;
const brandPath = (id: string): string => `${PATH}/brands/${pathPart(id, 'NOT_FOUND')}`;

/** Calls about the account itself. The key needs the scope `account`, which none has by default. */
export class AccountCalls {
  constructor(private readonly transport: Transport) {}

  show(options?: CallOptions): Promise<OwnAccount> {
    return this.#get(PATH, isOwnAccount, options);
  }

  webhook(options?: CallOptions): Promise<AccountWebhook> {
    return this.#get(`${PATH}/webhook`, isWebhook, options);
  }

  /** A test key changes `testWebhookUrl` alone. */
  changeWebhook(change: AccountWebhookChange, options?: CallOptions): Promise<AccountWebhook> {
    return this.#change(`${PATH}/webhook`, change, isWebhook, options);
  }

  /** As `rotateWebhookSecret` of the client, with the scope `account`. */
  rotateWebhookSecret(options?: CallOptions): Promise<RotatedSecret> {
    return this.#post(`${PATH}/webhook/secret/rotate`, undefined, isRotatedSecret, options);
  }

  /** The keys of the mode of the key, newest first. */
  listKeys(query: PageQuery = {}, options?: CallOptions): Promise<Page<AccountKey>> {
    return this.#get(`${PATH}/keys${queryText({ ...query })}`, pageOf(isKey), options);
  }

  async findKey(id: string, options?: CallOptions): Promise<AccountKey> {
    return this.#get(keyPath(id), isKey, options);
  }

  /** Of the mode of the key of the call. */
  createKey(key: NewAccountKey, options?: CallOptions): Promise<ShownAccountKey> {
    return this.#post(`${PATH}/keys`, key, isShownKey, options);
  }

  /** The old text ends everywhere within 5 s. */
  async rotateKey(id: string, options?: CallOptions): Promise<ShownAccountKey> {
    return this.#post(`${keyPath(id)}/rotate`, undefined, isShownKey, options);
  }

  async revokeKey(id: string, options?: CallOptions): Promise<AccountKey> {
    return this.#post(`${keyPath(id)}/revoke`, undefined, isKey, options);
  }

  listBrands(query: PageQuery = {}, options?: CallOptions): Promise<Page<AccountBrand>> {
    return this.#get(`${PATH}/brands${queryText({ ...query })}`, pageOf(isBrand), options);
  }

  async findBrand(id: string, options?: CallOptions): Promise<AccountBrand> {
    return this.#get(brandPath(id), isBrand, options);
  }

  async changeBrand(id: string, change: AccountBrandChange, options?: CallOptions): Promise<AccountBrand> {
    return this.#change(brandPath(id), change, isBrand, options);
  }

  listRequests(query: PageQuery = {}, options?: CallOptions): Promise<Page<AccountRequest>> {
    return this.#get(`${PATH}/requests${queryText({ ...query })}`, pageOf(isRequest), options);
  }

  #get<Answer>(path: string, is: (value: unknown) => value is Answer, options?: CallOptions): Promise<Answer> {
    return this.transport.sendForBody({ method: 'GET', path, repeatable: 'always' }, is, options);
  }

  #change<Answer>(
    path: string,
    body: object,
    is: (value: unknown) => value is Answer,
    options?: CallOptions,
  ): Promise<Answer> {
    return this.transport.sendForBody({ method: 'PATCH', path, repeatable: 'always', body }, is, options);
  }

  #post<Answer>(
    path: string,
    body: object | undefined,
    is: (value: unknown) => value is Answer,
    options?: CallOptions,
  ): Promise<Answer> {
    const call = {
      method: 'POST',
      path,
      repeatable: 'when-untouched',
      ...(body === undefined ? {} : { body }),
    } as const;
    return this.transport.sendForBody(call, is, options);
  }
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

function isOwnAccount(value: unknown): value is OwnAccount {
  if (!isObject(value) || !isObject(value['key'])) return false;
  const { id, name, otpCountries, otpDailyMessageCap, otpUnconvertedFloor, key } = value;
  const { id: keyId, kind, scopes } = key;
  return (
    [id, name, keyId, kind].every(isText) &&
    [otpCountries, scopes].every(isTexts) &&
    [otpDailyMessageCap, otpUnconvertedFloor].every(isCount)
  );
}

const isWebhook = (value: unknown): value is AccountWebhook =>
  isObject(value) && isTextOrNull(value['testWebhookUrl']) && isTexts(value['webhookEvents']);

function isKey(value: unknown): value is AccountKey {
  if (!isObject(value)) return false;
  const { id, accountId, kind, name, scopes, prefix, lastUsedAt, revokedAt } = value;
  return (
    [id, accountId, kind, name, prefix].every(isText) && isTexts(scopes) && [lastUsedAt, revokedAt].every(isTextOrNull)
  );
}

const isShownKey = (value: unknown): value is ShownAccountKey =>
  isKey(value) && isText((value as Partial<ShownAccountKey>).key);

function isBrand(value: unknown): value is AccountBrand {
  if (!isObject(value)) return false;
  const { id, name, slug, instruction, logoUrl, domain, active } = value;
  const isActive = typeof active === 'boolean';
  return [id, name, slug, instruction].every(isText) && [logoUrl, domain].every(isTextOrNull) && isActive;
}

function isRequest(value: unknown): value is AccountRequest {
  if (!isObject(value)) return false;
  const { id, at, keyId, method, path, status, code, latencyMs } = value;
  return [id, at, keyId, method, path].every(isText) && isTextOrNull(code) && [status, latencyMs].every(isCount);
}
