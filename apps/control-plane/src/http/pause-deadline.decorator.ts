import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Waits for somebody outside, for `mostMs` at most, without the time of the request going on. */
export type PausedWait = <T>(mostMs: number, wait: () => Promise<T>) => Promise<T>;

/** For calls whose answer may have to wait for a phone: their deadline counts their own work only. */
export const PauseDeadline = createParamDecorator((_: unknown, context: ExecutionContext): PausedWait => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return (mostMs, wait) => request.deadline.hold(request, mostMs, wait);
});
