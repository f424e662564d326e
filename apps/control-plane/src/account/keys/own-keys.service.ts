import {
  AccountStore,
  DEFAULT_SCOPES,
  LIMIT_NAMES,
  lowerLimits,
  withUsualLimits,
  type ApiKey,
  type ApiKeyPrincipal,
  type KeyLimits,
  type LimitName,
  type Scope,
} from '@countersign/accounts/accounts';
import { ACCOUNTS, API_KEYS } from '@countersign/accounts/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import type { AdminResource, Reply } from '../../admin/crud/admin-resource.js';
import { AdminService } from '../../admin/crud/admin.service.js';
import type { PageAnswer, PageQuery } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { keyView, type KeyAnswer } from '../../admin/keys/key.view.js';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { Developer } from '../../http/developer.decorator.js';
import type { OwnKeyDraft } from './own-key.dto.js';

/** Keys of an account and mode that are valid or were created within a day. An operator can create more. */
const MAX_KEYS = 100;

type Answer = Plain<KeyAnswer>;
type KeyQuota = Pick<ApiKey, 'limits' | 'quotaId'>;

/**
 * The keys of an account in the mode of the caller's key. No key gets a scope or a limit that the caller's lacks: neither
 * a new one, nor one whose text the caller learns by rotating it.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly admin: AdminService,
    private readonly accounts: AccountStore,
  ) {}

  list({ caller }: Developer, query: PageQuery): Promise<Outcome<PageAnswer<Answer>>> {
    return this.admin.list(resourceOf(caller), query);
  }

  find({ caller }: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.find(resourceOf(caller), id);
  }

  create(by: Developer, draft: OwnKeyDraft): Promise<Outcome<Answer>> {
    return this.admin.create(resourceOf(by.caller), by, (tx) => this.insert(tx, by, draft));
  }

  rotate(by: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.act(resourceOf(by.caller), by, { id, action: 'rotate' }, async (tx, apiKey) => {
      if (apiKey.revokedAt !== null) return REVOKED;
      const lacking = apiKey.scopes.find((scope) => !by.caller.scopes.includes(scope));
      if (lacking !== undefined) return lacks(lacking);
      // A member has no key whose limits could be lower: it may rotate every key of the account.
      const larger = by.isMember ? undefined : largerLimit(apiKey.limits, by.caller.limits);
      if (larger !== undefined) return hasLower(larger, by.caller.limits);
      const { key, ...row } = await this.accounts.rotateApiKey(tx, apiKey);
      return succeed({ row, once: { key } });
    });
  }

  /** A second call changes nothing. */
  revoke(by: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.act(resourceOf(by.caller), by, { id, action: 'revoke' }, async (tx, apiKey) =>
      succeed({ row: (await this.accounts.revokeApiKey(tx, apiKey.id)) ?? apiKey }),
    );
  }

  private async insert(
    tx: Executor,
    { caller, isMember }: Developer,
    { name, scopes }: OwnKeyDraft,
  ): Reply<ApiKey, Answer> {
    const wanted = scopes ?? DEFAULT_SCOPES.filter((scope) => caller.scopes.includes(scope));
    if (wanted.length === 0) return NO_SCOPES;
    const lacking = wanted.find((scope) => !caller.scopes.includes(scope));
    if (lacking !== undefined) return lacks(lacking);
    const { accountId } = caller.tenant;
    // Concurrent creates wait for each other, so that the count is exact.
    await ACCOUNTS.lock(tx, accountId);
    if ((await this.accounts.countRecentKeys(tx, caller.tenant)) >= MAX_KEYS) return TOO_MANY;
    const quota = isMember ? await this.quotaOfMembers(tx, caller) : quotaOf(caller);
    const draft = { accountId, kind: caller.kind, name, scopes: wanted, ...quota };
    const { key, ...row } = await this.accounts.createApiKey(tx, draft);
    return succeed({ row, once: { key } });
  }

  /** Keys that members make share one quota for each mode: the usual limits, lower ones where no key of the account has as much. */
  private async quotaOfMembers(tx: Executor, { tenant }: ApiKeyPrincipal): Promise<KeyQuota> {
    return { limits: lowerLimits({}, await this.accounts.largestLimits(tx, tenant)), quotaId: tenant.accountId };
  }
}

/** The keys that the caller sees: any other is unknown. */
const resourceOf = ({ tenant, kind }: ApiKeyPrincipal): AdminResource<ApiKey, Answer> => ({
  ...{ name: 'keys', noun: 'key', idPrefix: 'key', view: keyView, refusals: {} },
  table: API_KEYS.where({ accountId: tenant.accountId, kind }),
});

/** A key shares the quota of the key that makes it, so that no number of keys makes more requests than an operator allowed. */
const quotaOf = ({ keyId, quotaId = keyId, limits }: ApiKeyPrincipal): KeyQuota => ({ limits, quotaId });

/** The first limit of a key that exceeds the caller's. */
function largerLimit(limits: KeyLimits, ofCaller: KeyLimits): LimitName | undefined {
  const [own, most] = [withUsualLimits(limits), withUsualLimits(ofCaller)];
  return LIMIT_NAMES.find((name) => own[name] > most[name]);
}

const hasLower = (name: LimitName, limits: KeyLimits) =>
  refuse('FORBIDDEN', {
    message: `The limit ${name} of the key of this call is ${withUsualLimits(limits)[name]}, lower than that of this key, so it cannot rotate it.`,
  });
const lacks = (scope: Scope) =>
  refuse('FORBIDDEN', { message: `The key of this call lacks the scope ${scope}, so it cannot give it.` });
const NO_SCOPES = refuse('VALIDATION_ERROR', {
  field: 'scopes',
  message: 'scopes must be named: the key of this call has none of those that a key has by default.',
});
const REVOKED = refuse('CONFLICT', { message: 'This key is revoked and cannot be restored: create a new one.' });
const TOO_MANY = refuse('CONFLICT', {
  message: `An account has at most ${MAX_KEYS} keys of a kind that are valid or were created within a day: revoke some.`,
});
