import type { IdSource, Uuid } from '@countersign/ids';
import { type Executor, requireRow } from '@countersign/postgres';
import { type Member, MEMBERS } from './member.entity.js';
import type { NewMember, SignInMeans, VerifiedIdentity } from './member.js';
import {
  END_SESSIONS_OF_MEMBER,
  FIND_BY_IDENTITY,
  HAS_OTHER_OWNER,
  HOLD_DEVELOPER,
  LINK_IDENTITY,
  LOCK_MEMBERS,
} from './member.sql.js';

const SIGN_IN_MEANS = ['phone', 'email', 'oidcIssuer', 'oidcSubject'] as const satisfies readonly (keyof SignInMeans)[];

/** A change that would leave the installation without an active owner. */
export interface LastOwner {
  readonly ok: false;
}

export interface IdentifiedMember {
  readonly id: Uuid;
  /** Whether this sign-in has given the member its identity. */
  readonly isNew: boolean;
}

export type MemberChange = { readonly ok: true; readonly member: Member } | LastOwner;

/**
 * Writes members, in the caller's transaction. Updates expect a locked, complete row. Throws DataError 23505 for the
 * phone (`members_phone_key`), email or OIDC identity of another member, and 23503 for an unknown account.
 */
export class MemberStore {
  constructor(private readonly ids: IdSource) {}

  create(tx: Executor, member: NewMember): Promise<Member> {
    return MEMBERS.insert(tx, { ...member, id: this.ids.newId() });
  }

  /**
   * Writes all fields but the account. A member who is deactivated, or who is to sign in with something else, is signed
   * out everywhere.
   */
  async update(tx: Executor, before: Member, wanted: Member): Promise<MemberChange> {
    const staysOwner = wanted.active && wanted.role === 'owner';
    if (!staysOwner && (await this.isLastOwner(tx, before))) return { ok: false };
    const isOther = SIGN_IN_MEANS.some((means) => before[means] !== wanted[means]);
    if (isOther || !wanted.active) await tx.query(END_SESSIONS_OF_MEMBER, [before.id]);
    const { id, ...fields } = wanted;
    return { ok: true, member: await MEMBERS.update(tx, id, fields) };
  }

  /** Whether no other member is an active owner. No change of another transaction can make it untrue before the commit. */
  async isLastOwner(tx: Executor, { id, role, active }: Member): Promise<boolean> {
    if (role !== 'owner' || !active) return false;
    await tx.query(LOCK_MEMBERS);
    return !requireRow(await tx.query<{ found: boolean }>(HAS_OTHER_OWNER, [id])).found;
  }

  /**
   * The active member of the installation that an OpenID provider has identified, or null. The identity decides; a verified
   * address only gives it to a member who has none.
   */
  async identify(tx: Executor, { issuer, subject, verifiedEmail }: VerifiedIdentity): Promise<IdentifiedMember | null> {
    const [known] = await tx.query<{ id: Uuid }>(FIND_BY_IDENTITY, [issuer, subject]);
    if (known !== undefined) return { ...known, isNew: false };
    if (verifiedEmail === null) return null;
    const [linked] = await tx.query<{ id: Uuid }>(LINK_IDENTITY, [issuer, subject, verifiedEmail]);
    return linked === undefined ? null : { ...linked, isNew: true };
  }

  /**
   * Whether a developer of an account may act, until the transaction ends: a change of the member waits for it, and then sees what
   * it has written. False also while the member is being changed.
   */
  async holdDeveloper(tx: Executor, id: Uuid): Promise<boolean> {
    return (await tx.query(HOLD_DEVELOPER, [id])).length > 0;
  }

  /** Deletes a member with the console sessions. */
  delete(tx: Executor, id: Uuid): Promise<void> {
    return MEMBERS.delete(tx, id);
  }
}
