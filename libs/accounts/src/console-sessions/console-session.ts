import type { Uuid } from '@countersign/ids';
import type { KeyLimits, Scope } from '../accounts/account.js';
import type { MemberRole } from '../members/member.js';

/** `link` is the one-time link of a development run. */
export const SIGN_IN_METHODS = ['key', 'oidc', 'phone', 'link'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** The holder of a session: a member, or the holder of an admin key. Both ids are null for the key of the environment. */
export interface SessionHolder {
  readonly memberId: Uuid | null;
  readonly adminKeyId: Uuid | null;
}

/** The API key with which a member of an account has confirmed a session: it is valid, and has the text that was shown. */
export interface Confirmation {
  readonly until: Date;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
}

/** A session of the console that is valid now, with the present name and role of its holder. */
export interface ConsoleSession extends SessionHolder {
  readonly id: Uuid;
  readonly method: SignInMethod;
  readonly name: string;
  readonly role: MemberRole;
  /** Null for the installation. */
  readonly accountId: Uuid | null;
  readonly clientAddress: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  /** Up to a minute behind. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** Null without one, and when its time is over or its key was revoked or rotated. */
  readonly confirmation: Confirmation | null;
}

export interface NewConsoleSession extends SessionHolder {
  /** Of the admin key: the session ends when it is rotated. Empty for members. */
  readonly keyDigests: readonly Buffer[];
  readonly method: SignInMethod;
  readonly clientAddress: string;
  /** Cut to a bound. */
  readonly userAgent: string;
}

/** A new session with the value of its cookie, which only this result contains. */
export interface OpenedConsoleSession {
  readonly session: ConsoleSession;
  readonly cookie: string;
}
