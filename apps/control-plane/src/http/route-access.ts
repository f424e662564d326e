import type { ApiKeyPrincipal, Scope } from '@countersign/accounts';
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
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
      readonly body: BodyKind;
      /** For a call that waits for other processes: what it may take, in place of what all may. */
      readonly budgetMs?: number;
    };

/** Who a request speaks for: an account's key, or the on-call engineers' key, which is not a row. */
export type Caller = ApiKeyPrincipal | { readonly kind: 'admin' };

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

/** Needed on every handler: a route that does not say who may call it stops the boot. */
export const Access = (route: RouteAccess): MethodDecorator =>
  route.access === 'public'
    ? RouteConfig({ route })
    : applyDecorators(RouteConfig({ route }), ApiSecurity('bearer', [route.access === 'key' ? route.scope : 'admin']));
