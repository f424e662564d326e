import type { ApiKeyPrincipal, Scope } from '@countersign/accounts/accounts';
import type { AdminPrincipal } from '@countersign/accounts/admin-keys';
import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import { type AdminPermission, type RestrictedParameter, rolesOf } from './admin-policy.js';
import type { LimitHeaders } from './limit-headers.js';
import type { RequestDeadline } from './request-deadline.js';

/** `none`: the call has no body; no body, an empty one and `{}` are equivalent, with or without a media type. */
export type BodyKind = 'json' | 'none';

/** Required authorization of a route, its body kind, and its quota besides `default`. */
export type RouteAccess =
  | { readonly access: 'public' }
  /** A call of the console before there is a session. */
  | { readonly access: 'sign-in'; readonly body: BodyKind }
  /** A call of the console, for every session of it. */
  | { readonly access: 'console'; readonly body: BodyKind }
  | {
      readonly access: 'key';
      readonly scope: Scope;
      readonly body: BodyKind;
      readonly policy?: 'create' | 'poll' | 'usage';
      /** Behaviour while the limiter's store is away; default `go_on`, with counters local to this process. */
      readonly withoutLimiter?: 'go_on' | 'refuse';
      /** Refused over the console: the answer has values for the account's servers. */
      readonly keyOnly?: true;
      /**
       * In live mode a member of the account needs a session that was confirmed with an API key of these scopes: what the call
       * gives outlasts the session, and a phone is verified by messages that gateways and engineers of the installation handle.
       */
      readonly confirmedWith?: readonly Scope[];
    }
  | {
      readonly access: 'admin';
      /** The permission in ADMIN_POLICY that the role must have. */
      readonly needs: AdminPermission;
      /** Query parameters that need a further right. */
      readonly restricted?: readonly RestrictedParameter[];
      readonly body: BodyKind;
      /** Deadline in ms of a call that waits for other processes, instead of the default. */
      readonly budgetMs?: number;
    };

/** The principal of a request's key or cookie: an account, or an engineer. */
export type Caller = ApiKeyPrincipal | AdminPrincipal;

/** A session of the console with the value of its cookie. */
export interface SignedIn extends ConsoleSession {
  readonly cookie: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteAccess;
  }
  interface FastifyRequest {
    /** Set before the body is read; null on public routes. */
    caller: Caller | null;
    /** Whose connections and unread answers are counted together, set with `caller`: the account, or the admin key. */
    connectionOwner: string | null;
    /** When it was admitted by its headers, on the monotonic clock. */
    admittedAtMs: number;
    /** The session of a request to the console's API, set with `caller`; null for every other request. */
    consoleSession: SignedIn | null;
    /** Digests of the caller's key in hex, for calls with `confirmedWith` and changes by engineers alone; null for every other call. */
    keyDigests: readonly string[] | null;
    /** The code of an error answer; null without one. */
    errorCode: string | null;
    /** Rate limit headers of the response; null until a quota has counted the request. */
    limitHeaders: LimitHeaders | null;
    /** Whether it was refused because the quota of all requests of its key, or of its address without one, is used up. */
    isQuotaUsedUp: boolean;
    /** The address of the client, behind the TLS proxy too. */
    clientAddress: string;
    /** Answers the request when it is overdue. */
    readonly deadline: RequestDeadline;
  }
}

/** The extension of OpenAPI operations that lists the roles that may call them. */
export const REQUIRED_ROLES = 'x-required-roles';

/** Required on every handler: a route that does not declare its access stops the boot. */
export function Access(route: RouteAccess): MethodDecorator {
  if (route.access === 'public' || route.access === 'sign-in') return RouteConfig({ route });
  if (route.access === 'console') return applyDecorators(RouteConfig({ route }), ApiSecurity('session'));
  if (route.access === 'key') return applyDecorators(RouteConfig({ route }), ApiSecurity('bearer', [route.scope]));
  const roles = ApiExtension(REQUIRED_ROLES, [...rolesOf(route.needs)]);
  return applyDecorators(RouteConfig({ route }), ApiSecurity('bearer', ['admin']), roles);
}
