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
import { MemberStore } from '@countersign/accounts/members';
import { ACCOUNTS, API_KEYS } from '@countersign/accounts/records';
import type { Uuid } from '@countersign/ids';
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
 * a new one, nor one whose text the caller learns by rotating it. Each key names the member who knows its text.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly admin: AdminService,
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
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
      const lacking = apiKey.scopes.find((scope) => !by.granted.scopes.includes(scope));
      if (lacking !== undefined) return lacks(lacking);
      const { limits } = by.granted;
      const larger = limits === null ? undefined : largerLimit(apiKey.limits, limits);
      if (limits !== null && larger !== undefined) return hasLower(larger, limits);
      if (!(await this.mayAct(tx, by))) return CHANGING;
      const { key, ...row } = await this.accounts.rotateApiKey(tx, apiKey, await memberBehind(tx, by));
      return succeed({ row, once: { key } });
    });
  }

  /** A second call changes nothing. */
  revoke(by: Developer, id: string): Promise<Outcome<Answer>> {
    return this.admin.act(resourceOf(by.caller), by, { id, action: 'revoke' }, async (tx, apiKey) =>
      succeed({ row: (await this.accounts.revokeApiKey(tx, apiKey.id)) ?? apiKey }),
    );
  }

  private async insert(tx: Executor, by: Developer, { name, scopes }: OwnKeyDraft): Reply<ApiKey, Answer> {
    const { caller, granted } = by;
    const wanted = scopes ?? DEFAULT_SCOPES.filter((scope) => granted.scopes.includes(scope));
    if (wanted.length === 0) return NO_SCOPES;
    const lacking = wanted.find((scope) => !granted.scopes.includes(scope));
    if (lacking !== undefined) return lacks(lacking);
    if (!(await this.mayAct(tx, by))) return CHANGING;
    const { accountId } = caller.tenant;
    // Concurrent creates wait for each other, so that the count is exact.
    await ACCOUNTS.lock(tx, accountId);
    if ((await this.accounts.countRecentKeys(tx, caller.tenant)) >= MAX_KEYS) return TOO_MANY;
    const quota = by.isMember ? await this.quotaOfMembers(tx, by) : quotaOf(caller);
    const memberId = await memberBehind(tx, by);
    const draft = { accountId, kind: caller.kind, name, scopes: wanted, ...quota, memberId };
    const { key, ...row } = await this.accounts.createApiKey(tx, draft);
    return succeed({ row, once: { key } });
  }

  /**
   * Keys that members make share one quota for each mode: the usual limits, lower ones where no key of the account has as much, or
   * the one that confirmed the session.
   */
  private async quotaOfMembers(tx: Executor, { caller: { tenant }, granted }: Developer): Promise<KeyQuota> {
    const ofAccount = lowerLimits({}, await this.accounts.largestLimits(tx, tenant));
    return { limits: lowerLimits(ofAccount, granted.limits ?? {}), quotaId: tenant.accountId };
  }

  /** Whether the member is still one: a key that is made while an owner removes the member is not missed by the removal. */
  private async mayAct(tx: Executor, { memberId }: Developer): Promise<boolean> {
    return memberId === null || (await this.members.holdDeveloper(tx, memberId));
  }
}

/** The member who learns the text of a key: that of the session, or the one who knows the key of the call. */
async function memberBehind(tx: Executor, { memberId, caller }: Developer): Promise<Uuid | null> {
  return memberId ?? (await API_KEYS.find(tx, caller.keyId))?.memberId ?? null;
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
    message: `The limit ${name} of the key of this call, or of the one that confirmed the session, is ${withUsualLimits(limits)[name]}, lower than that of this key, so it cannot rotate it.`,
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
const CHANGING = refuse('CONFLICT', { message: 'An owner is changing this member: sign in again, or try again.' });
const TOO_MANY = refuse('CONFLICT', {
  message: `An account has at most ${MAX_KEYS} keys of a kind that are valid or were created within a day: revoke some.`,
});
