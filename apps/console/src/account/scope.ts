import { createContext, useContext } from 'react';
import type { Me } from '../api/session.js';
import type { Mode } from './mode.js';

/** The account and the mode that a page is about. */
export interface AccountScope {
  readonly accountId: string;
  readonly mode: Mode;
  /** Of every call about them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Part of the address of every page about them. */
  readonly search: { readonly account?: string };
  /** Whether the holder may change the account. The server decides; this only hides what it would refuse. */
  readonly mayChange: boolean;
  /** Whether the holder is an owner of the installation, who works for the account. */
  readonly isOwner: boolean;
}

/** Null for people of the installation who may not work for an account, or have named none. */
export function scopeOf(
  { accountId: own, role }: Pick<Me, 'accountId' | 'role'>,
  named: string | undefined,
  mode: Mode,
): AccountScope | null {
  if (own !== undefined) {
    const headers = { 'countersign-mode': mode };
    return { accountId: own, mode, headers, search: {}, mayChange: role === 'developer', isOwner: false };
  }
  if (named === undefined || role !== 'owner') return null;
  const headers = { 'countersign-mode': mode, 'countersign-account': named };
  return { accountId: named, mode, headers, search: { account: named }, mayChange: true, isOwner: true };
}

export const ScopeContext = createContext<AccountScope | null>(null);

export function useScope(): AccountScope {
  const scope = useContext(ScopeContext);
  if (scope === null) throw new Error('a page of an account is inside its frame');
  return scope;
}

/** The key of a query about an account in one mode. */
export const keyOf = ({ accountId, mode }: AccountScope, ...rest: readonly string[]): readonly string[] => [
  'account',
  accountId,
  mode,
  ...rest,
];
