import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Engineer } from './admin-resource.js';

/** The engineer whose request this is. There is one admin key, so the log can name no more than that. */
export const ByEngineer = createParamDecorator((_: unknown, context: ExecutionContext): Engineer => {
  const { caller, id } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller?.kind !== 'admin') throw new Error('an admin route was reached without the admin key');
  return { actor: 'admin', requestId: id };
});
