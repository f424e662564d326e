import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { readsPersonalData } from './console-policy.js';

/**
 * Whether the caller of an account's API sees people's data: every key of the account does, and over the console its developers
 * and an owner of the installation who acts for it, but not its viewers.
 */
export const SeesPeople = createParamDecorator((_: unknown, context: ExecutionContext): boolean => {
  const { consoleSession } = context.switchToHttp().getRequest<FastifyRequest>();
  return consoleSession === null || consoleSession.accountId === null || readsPersonalData(consoleSession.role);
});
