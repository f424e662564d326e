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
import { DeveloperRights, type HeldRights } from '../../http/developer-rights.js';
import type { OwnKeyDraft } from './own-key.dto.js';

/** Keys of an account and mode that are valid or were created within a day. An operator can create more. */
const MAX_KEYS = 100;

type Answer = Plain<KeyAnswer>;
type KeyQuota = Pick<ApiKey, 'limits' | 'quotaId'>;

/**
 * The keys of an account in the mode of the caller's key. No key gets a scope or a limit that the caller's lacks: neither
 * a new one, nor one whose text the caller learns by rotating it. Each key names the member who knows its text.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly admin: AdminService,
    private readonly accounts: AccountStore,
    private readonly rights: DeveloperRights,
  ) {}

  list({ caller }: Developer, query: PageQuery): Promise<Outcome<PageAnswer<Answer>>> {
    return this.admin.list(resourceOf(caller), query);
  }

  find({ caller }: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.find(resourceOf(caller), id);
  }

  create(by: Developer, draft: OwnKeyDraft): Promise<Outcome<Answer>> {
    return this.rights.inTurn(by, () =>
      this.admin.create(resourceOf(by.caller), by, (tx) => this.insert(tx, by, draft)),
    );
  }

  rotate(by: Developer, id: string): Promise<Outcome<Answer>> {
    const act = { id, action: 'rotate' };
    return this.rights.inTurn(by, () =>
      this.admin.act(resourceOf(by.caller), by, act, (tx, apiKey) => this.replace(tx, by, apiKey)),
    );
  }

  /** A second call changes nothing. Waits behind no other changes, which a stolen key could make. */
  revoke(by: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.act(resourceOf(by.caller), by, { id, action: 'revoke' }, async (tx, apiKey) =>
      succeed({ row: (await this.accounts.revokeApiKey(tx, apiKey.id)) ?? apiKey }),
    );
  }

  private async replace(tx: Executor, by: Developer, apiKey: ApiKey): Reply<ApiKey, Answer> {
    if (apiKey.revokedAt !== null) return REVOKED;
    const held = await this.rights.hold(tx, by);
    if (!held.ok) return held;
    const { scopes, memberId } = held.value;
    const lacking = apiKey.scopes.find((scope) => !scopes.includes(scope));
    if (lacking !== undefined) return lacks(lacking);
    const limits = await this.largestToLearn(tx, by, held.value);
    const larger = limits === null ? undefined : largerLimit(apiKey.limits, limits);
    if (limits !== null && larger !== undefined) return hasLower(larger, limits);
    const { key, ...row } = await this.accounts.rotateApiKey(tx, apiKey, memberId);
    return succeed({ row, once: { key } });
  }

  private async insert(tx: Executor, by: Developer, { name, scopes }: OwnKeyDraft): Reply<ApiKey, Answer> {
    const { caller } = by;
    const { accountId } = caller.tenant;
    // First, as in every change of a developer. Concurrent creates wait for each other, so that the count is exact.
    await ACCOUNTS.lock(tx, accountId);
    const held = await this.rights.hold(tx, by);
    if (!held.ok) return held;
    const granted = held.value;
    const wanted = scopes ?? DEFAULT_SCOPES.filter((scope) => granted.scopes.includes(scope));
    if (wanted.length === 0) return NO_SCOPES;
    const lacking = wanted.find((scope) => !granted.scopes.includes(scope));
    if (lacking !== undefined) return lacks(lacking);
    if ((await this.accounts.countRecentKeys(tx, caller.tenant)) >= MAX_KEYS) return TOO_MANY;
    const quota = by.session === null ? quotaOf(caller, granted) : await this.quotaOfMembers(tx, by, granted);
    const { memberId } = granted;
    const draft = { accountId, kind: caller.kind, name, scopes: wanted, ...quota, memberId };
    const { key, ...row } = await this.accounts.createApiKey(tx, draft);
    return succeed({ row, once: { key } });
  }

  /**
   * Keys that members make share one quota for each mode: the usual limits, lower ones where no key of the account has as much, or
   * the one that confirmed the session.
   */
  private async quotaOfMembers(tx: Executor, { caller }: Developer, { limits }: HeldRights): Promise<KeyQuota> {
    const { tenant } = caller;
    const ofAccount = lowerLimits({}, await this.accounts.largestLimits(tx, tenant));
    return { limits: lowerLimits(ofAccount, limits ?? {}), quotaId: tenant.accountId };
  }

  /**
   * The limits that a key has at most whose text the developer learns: without a key to compare with, in test mode, those that
   * keys of members have. Null for an owner of the installation, who sets limits.
   */
  private async largestToLearn(tx: Executor, by: Developer, rights: HeldRights): Promise<KeyLimits | null> {
    if (rights.limits !== null || rights.memberId === null) return rights.limits;
    return (await this.quotaOfMembers(tx, by, rights)).limits;
  }
}

/**
 * The keys that the caller sees: any other is unknown. The account is locked before one of them, as in every change of a developer:
 * two keys that replace each other at once would otherwise wait for each other.
 */
function resourceOf({ tenant: { accountId }, kind }: ApiKeyPrincipal): AdminResource<ApiKey, Answer> {
  const keys = API_KEYS.where({ accountId, kind });
  const table: AdminResource<ApiKey, Answer>['table'] = {
    list: (db, page) => keys.list(db, page),
    find: (db, id) => keys.find(db, id),
    lock: async (tx, id) => {
      await ACCOUNTS.lock(tx, accountId);
      return keys.lock(tx, id);
    },
  };
  return { ...{ name: 'keys', noun: 'key', idPrefix: 'key', view: keyView, refusals: {} }, table };
}

/** A key shares the quota of the key that makes it, so that no number of keys makes more requests than an operator allowed. */
const quotaOf = ({ keyId }: ApiKeyPrincipal, { limits, quotaId }: HeldRights): KeyQuota => ({
  limits: limits ?? {},
  quotaId: quotaId ?? keyId,
});

/** The first limit of a key that exceeds the caller's. */
function largerLimit(limits: KeyLimits, ofCaller: KeyLimits): LimitName | undefined {
  const [own, most] = [withUsualLimits(limits), withUsualLimits(ofCaller)];
  return LIMIT_NAMES.find((name) => own[name] > most[name]);
}

const hasLower = (name: LimitName, limits: KeyLimits) =>
  refuse('FORBIDDEN', {
    message: `The limit ${name} of the key of this call, or of the one that confirmed the session, is ${withUsualLimits(limits)[name]}, or without one that of keys of members: lower than that of this key, so it cannot be rotated.`,
  });
const lacks = (scope: Scope) =>
  refuse('FORBIDDEN', {
    message: `The key of this call, or the one that confirmed the session, lacks the scope ${scope}, so it cannot give it.`,
  });
const NO_SCOPES = refuse('VALIDATION_ERROR', {
  field: 'scopes',
  message:
    'scopes must be named: the key of this call, or the one that confirmed the session, has none of those that a key has by default.',
});
const REVOKED = refuse('CONFLICT', { message: 'This key is revoked and cannot be restored: create a new one.' });
const TOO_MANY = refuse('CONFLICT', {
  message: `An account has at most ${MAX_KEYS} keys of a kind that are valid or were created within a day: revoke some.`,
});
