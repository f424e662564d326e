import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/**
 * The account's API key of a request. For routes with a scope: the request authorizer admits only account keys there.
 */
export const CallerKey = createParamDecorator((_: unknown, context: ExecutionContext): ApiKeyPrincipal => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null || caller.kind === 'admin')
    throw new Error('route with a scope was reached without an account key');
  return caller;
});
