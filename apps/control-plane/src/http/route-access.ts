import type { ApiKeyPrincipal, Scope } from '@countersign/accounts';
import { RouteConfig } from '@nestjs/platform-fastify';

/** Who may call a route, and what kind of body it has. */
export type RouteAccess =
  | { readonly access: 'public' }
  | {
      readonly access: 'key';
      readonly scope: Scope;
      /** `none`: the call says all with its address; nothing, an empty body and `{}` are the same, with or without a type. */
      readonly body: 'json' | 'none';
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
    /** The address of the client, behind the TLS proxy too. */
    clientAddress: string;
  }
}

/** Needed on every handler: a route that does not say who may call it stops the boot. */
export const Access = (route: RouteAccess): MethodDecorator => RouteConfig({ route });
