import type { ApiKeyPrincipal, Scope } from '@countersign/accounts/accounts';
import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { renderId } from '@countersign/ids';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { actorOf } from './console.authenticator.js';

/**
 * The holder of an account's key, or the member of the account, in a request: whose account it is, and who it is for the audit log.
 * Read before the body arrived: DeveloperRights has what they may do when a change is made.
 */
export interface Developer {
  readonly caller: ApiKeyPrincipal;
  /** The id of the key, or the name and id of the member. */
  readonly actor: string;
  readonly requestId: string;
  /** The session of the console that made the request; null for a key. */
  readonly session: Pick<ConsoleSession, 'id' | 'accountId' | 'memberId'> | null;
  /** Of the key in hex, for calls with `confirmedWith`; otherwise empty. */
  readonly keyDigests: readonly string[];
  /** The scopes that the key needs, or in live mode the one that has confirmed the session of a member. */
  readonly needs: readonly Scope[];
}

/** For routes with the access `key`: the holder, as the one who makes a change. */
export const ByDeveloper = createParamDecorator((_: unknown, context: ExecutionContext): Developer => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { caller, id: requestId, consoleSession: session, keyDigests } = request;
  const { route } = request.routeOptions.config;
  if (caller === null || caller.kind === 'admin' || route?.access !== 'key') {
    throw new Error('account route was reached without an account key');
  }
  const actor = session === null ? renderId('key', caller.keyId) : actorOf(session);
  const needs = session === null ? [route.scope] : (route.confirmedWith ?? []);
  return { caller, actor, requestId, session, keyDigests: keyDigests ?? [], needs };
});
