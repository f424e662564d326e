import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Visitor, visitorOf } from './visitor.decorator.js';

/** A call of a browser that is about to sign in. */
export interface BrowserCall {
  readonly visitor: Visitor;
  readonly request: FastifyRequest;
  /** For headers alone: the handler returns the body. */
  readonly reply: FastifyReply;
}

/** For routes with the access `sign-in`. */
export const BySignIn = createParamDecorator((_: unknown, context: ExecutionContext): BrowserCall => {
  const http = context.switchToHttp();
  const request = http.getRequest<FastifyRequest>();
  return { visitor: visitorOf(request), request, reply: http.getResponse<FastifyReply>() };
});
