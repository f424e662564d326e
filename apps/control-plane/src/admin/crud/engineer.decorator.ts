import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Engineer } from './admin-resource.js';

/** The engineer who holds the admin key of the request. */
export const ByEngineer = createParamDecorator((_: unknown, context: ExecutionContext): Engineer => {
  const { caller, id, consoleSession, keyDigests } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller?.kind !== 'admin') throw new Error('admin route was reached without an admin key');
  const holder = { keyId: caller.keyId, keyDigests: keyDigests ?? [], sessionId: consoleSession?.id ?? null };
  return { actor: caller.name, role: caller.role, requestId: id, holder };
});
