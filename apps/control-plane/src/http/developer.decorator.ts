import type { ApiKeyPrincipal, KeyLimits, Scope } from '@countersign/accounts/accounts';
import { renderId, type Uuid } from '@countersign/ids';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { actorOf } from './console.authenticator.js';

/** The holder of an account's key, or the member of the account, in a request: whose account it is, and who it is for the audit log. */
export interface Developer {
  readonly caller: ApiKeyPrincipal;
  /** The id of the key, or the name and id of the member. */
  readonly actor: string;
  /** Whether a session of the console made the request: it has no limits of a key. */
  readonly isMember: boolean;
  readonly requestId: string;
  /** The member of the account whose session it is; null for a key, and for an owner of the installation. */
  readonly memberId: Uuid | null;
  /**
   * The most that a key may have which the call makes: that of the caller’s key, or of the one that has confirmed the session. The
   * limits are null without such a key.
   */
  readonly granted: { readonly scopes: readonly Scope[]; readonly limits: KeyLimits | null };
}

/** For routes with the access `key`: the holder, as the one who makes a change. */
export const ByDeveloper = createParamDecorator((_: unknown, context: ExecutionContext): Developer => {
  const { caller, id, consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null || caller.kind === 'admin') throw new Error('account route was reached without an account key');
  const actor = consoleSession === null ? renderId('key', caller.keyId) : actorOf(consoleSession);
  const isMember = consoleSession !== null;
  const confirmation = caller.kind === 'live' ? (consoleSession?.confirmation ?? null) : null;
  const limits = isMember ? null : caller.limits;
  const memberId = consoleSession === null || consoleSession.accountId === null ? null : consoleSession.memberId;
  const granted = confirmation ?? { scopes: caller.scopes, limits };
  return { caller, actor, isMember, requestId: id, memberId, granted };
});
