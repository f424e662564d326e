import type { ApiKey } from '@countersign/accounts/accounts';
import { ADMIN_ROLES } from '@countersign/accounts/admin-keys';
import { ACCOUNT_ROLES, type Member, MemberStore, type NewMember } from '@countersign/accounts/members';
import { API_KEYS, MEMBERS } from '@countersign/accounts/records';
import { parseId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Refusal } from '../../http/errors.js';
import {
  accountIdOf,
  type AdminResource,
  type CrudResource,
  type Engineer,
  type Listed,
  NO_SUCH_ACCOUNT,
  plainResource,
  type Reply,
} from '../crud/admin-resource.js';
import { maskedFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { type KeyAnswer, keyView } from '../keys/key.view.js';
import type { MemberChange, MemberDraft } from './member.dto.js';
import { MemberKeys } from './member-keys.js';
import { type MemberAnswer, memberView, withoutContact } from './member.view.js';

type Answer = Plain<MemberAnswer>;

const LAST_OWNER = {
  code: 'CONFLICT',
  message: 'This is the last active owner: make another one first.',
} as const satisfies Refusal;

const taken = (field: string, message: string) => ({ code: 'CONFLICT', field, message }) as const satisfies Refusal;

@Injectable()
export class MemberResource implements CrudResource<Member, Answer, MemberDraft, MemberChange> {
  readonly name = 'members';
  readonly noun = 'member';
  readonly idPrefix = 'mbr';
  readonly showsPeople = true;
  readonly table = MEMBERS;
  readonly view = memberView;
  readonly refusals = {
    members_phone_key: taken('phone', 'Another member of an account has this phone.'),
    members_email_key: taken('email', 'Another member has this email.'),
    members_subject_key: taken('oidc', 'Another member has this OIDC identity.'),
    members_account_id_fkey: NO_SUCH_ACCOUNT,
  } as const;

  constructor(
    private readonly members: MemberStore,
    private readonly keys: MemberKeys,
  ) {}

  seenBy(by: Engineer): AdminResource<Member, Answer> {
    return maskedFor(by, this, withoutContact);
  }

  async create(tx: Executor, { accountId: sentId, name, role, ...rest }: MemberDraft): Reply<Member, Answer> {
    const accountId = sentId === undefined ? null : accountIdOf(sentId);
    if (sentId !== undefined && accountId === null) return { ok: false, refusal: NO_SUCH_ACCOUNT };
    const means = { phone: null, email: null, oidcIssuer: null, oidcSubject: null };
    const draft = { ...means, ...stored(rest), name, role, accountId };
    const refusal = misfitOf(draft);
    return refusal === null ? succeed({ row: await this.members.create(tx, draft) }) : { ok: false, refusal };
  }

  /** Never waits for a decision about keys: the sessions of the member end at once, and the answer lists the keys. */
  async update(
    tx: Executor,
    member: Member,
    { revokeKeys = false, ...change }: MemberChange,
    by: Engineer,
  ): Reply<Member, Answer> {
    const wanted = { ...member, ...stored(change) };
    const refusal = misfitOf(wanted);
    if (refusal !== null) return { ok: false, refusal };
    const updated = await this.members.update(tx, member, wanted);
    if (!updated.ok) return { ok: false, refusal: LAST_OWNER };
    const keys = await this.keys.lock(tx, member);
    if (revokeKeys) await this.keys.revoke(tx, keys, by);
    const isShown = keys.length > 0 && !revokeKeys;
    return succeed({ row: updated.member, ...(isShown ? { once: { keys: keys.map(keyView) } } : {}) });
  }

  /**
   * The resource for a deletion that revokes the valid keys of the member, or keeps them. Undecided, it is refused while there are
   * any: servers may use them, so they are neither revoked nor kept unseen.
   */
  forRemoval(revokesKeys: boolean | undefined): AdminResource<Member, Answer> {
    return {
      ...plainResource(this),
      mayRemove: async (tx, member) => {
        if (await this.members.isLastOwner(tx, member)) return LAST_OWNER;
        const keys = revokesKeys === undefined ? await this.keys.lock(tx, member) : [];
        return keys.length === 0 ? null : undecidedKeys(keys.length);
      },
    };
  }

  async remove(tx: Executor, member: Member, revokesKeys: boolean, by: Engineer): Promise<void> {
    if (revokesKeys) await this.keys.revoke(tx, await this.keys.lock(tx, member), by);
    await this.members.delete(tx, member.id);
  }

  /** The keys whose texts a member knows, revoked ones too, also of a deleted member. Null for what is no id of a member. */
  keysOf(id: string): Listed<ApiKey, Plain<KeyAnswer>> | null {
    const memberId = parseId(this.idPrefix, id);
    return memberId === null ? null : { idPrefix: 'key', table: API_KEYS.where({ memberId }), view: keyView };
  }
}

const undecidedKeys = (count: number): Refusal => ({
  code: 'CONFLICT',
  field: 'revokeKeys',
  message: `The member knows ${count} valid API key${count === 1 ? '' : 's'} of the account (GET /v1/admin/members/{id}/keys): say revokeKeys=true to revoke, or revokeKeys=false to keep.`,
});

function stored({ oidc, ...rest }: Omit<Plain<MemberChange>, 'revokeKeys'>): Partial<Member> {
  if (oidc === undefined) return rest;
  return { ...rest, oidcIssuer: textOf(oidc, 'issuer'), oidcSubject: textOf(oidc, 'subject') };
}

function textOf(oidc: ReadonlyMap<string, unknown> | null, field: string): string | null {
  const text = oidc?.get(field);
  return typeof text === 'string' ? text : null;
}

/** Why a member of this role cannot be stored: its role is of the other kind of member, or so is what it signs in with. */
function misfitOf({ accountId, role, phone, email, oidcIssuer }: NewMember): Refusal | null {
  const roles: readonly string[] = accountId === null ? ADMIN_ROLES : ACCOUNT_ROLES;
  const kind = accountId === null ? 'of the installation' : 'of an account';
  if (!roles.includes(role)) return misfit('role', `role of a member ${kind} must be one of ${roles.join(', ')}.`);
  if (accountId === null) return null;
  if (phone === null) return misfit('phone', 'phone is required: a member of an account signs in with it.');
  if (email !== null) return misfit('email', 'email must be null for a member of an account.');
  return oidcIssuer === null ? null : misfit('oidc', 'oidc must be null for a member of an account.');
}

const misfit = (field: string, message: string): Refusal => ({ code: 'VALIDATION_ERROR', field, message });
