import type { ApiKeyPrincipal, Scope } from '@countersign/accounts/accounts';
import type { AdminPrincipal } from '@countersign/accounts/admin-keys';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import { type AdminPermission, type RestrictedParameter, rolesOf } from './admin-policy.js';
import type { LimitHeaders } from './limit-headers.js';
import type { RequestDeadline } from './request-deadline.js';

/** `none`: the call says all with its address; nothing, an empty body and `{}` are the same, with or without a type. */
export type BodyKind = 'json' | 'none';

/** Who may call a route, what kind of body it has, and which quota counts it besides `default`. */
export type RouteAccess =
  | { readonly access: 'public' }
  | {
      readonly access: 'key';
      readonly scope: Scope;
      readonly body: BodyKind;
      readonly policy?: 'create' | 'poll' | 'usage';
      /** What happens while the limiter's store is away; `go_on`, under a bucket of this process, unless told. */
      readonly withoutLimiter?: 'go_on' | 'refuse';
    }
  | {
      readonly access: 'admin';
      /** The permission in ADMIN_POLICY that the role must have. */
      readonly needs: AdminPermission;
      /** Query parameters that need a further right. */
      readonly restricted?: readonly RestrictedParameter[];
      readonly body: BodyKind;
      /** For a call that waits for other processes: what it may take, in place of what all may. */
      readonly budgetMs?: number;
    };

/** The holder of the key of a request: an account, or an engineer with an admin key. */
export type Caller = ApiKeyPrincipal | AdminPrincipal;

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteAccess;
  }
  interface FastifyRequest {
    /** Set before the body is read; null on public routes. */
    caller: Caller | null;
    /** What the answer says about the limits; null until a quota has counted the request. */
    limitHeaders: LimitHeaders | null;
    /** The address of the client, behind the TLS proxy too. */
    clientAddress: string;
    /** What answers for it when its own answer does not come. */
    readonly deadline: RequestDeadline;
  }
}

/** The extension of OpenAPI operations that lists the roles that may call them. */
export const REQUIRED_ROLES = 'x-required-roles';

/** Needed on every handler: a route that does not say who may call it stops the boot. */
export function Access(route: RouteAccess): MethodDecorator {
  if (route.access === 'public') return RouteConfig({ route });
  if (route.access === 'key') return applyDecorators(RouteConfig({ route }), ApiSecurity('bearer', [route.scope]));
  const roles = ApiExtension(REQUIRED_ROLES, [...rolesOf(route.needs)]);
  return applyDecorators(RouteConfig({ route }), ApiSecurity('bearer', ['admin']), roles);
}
