import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { cookieOf } from '../http/console-requests.js';

/** A browser that is about to sign in. */
export interface Visitor {
  readonly clientAddress: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** The cookie of the session that the browser has, valid or not; null without one. */
  readonly cookie: string | null;
}

/** For routes with the access `sign-in`. */
export const ByVisitor = createParamDecorator((_: unknown, context: ExecutionContext): Visitor =>
  visitorOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

export function visitorOf({ clientAddress, headers, id }: FastifyRequest): Visitor {
  const { cookie, 'user-agent': userAgent = '' } = headers;
  return { clientAddress, userAgent, requestId: id, cookie: cookieOf(cookie) };
}
