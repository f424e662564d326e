import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { SignedIn } from '../http/route-access.js';

/** The session of the request. For routes with the access `console`. */
export const BySession = createParamDecorator((_: unknown, context: ExecutionContext): SignedIn => {
  const { consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  if (consoleSession === null) throw new Error('route of the console was reached without a session');
  return consoleSession;
});
