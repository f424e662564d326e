import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The account's key that a request was made with. For routes with a scope, where the gatekeeper has let no other in. */
export const CallerKey = createParamDecorator((_: unknown, context: ExecutionContext): ApiKeyPrincipal => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null || caller.kind === 'admin') throw new Error('a route with a scope was reached without a key');
  return caller;
});
