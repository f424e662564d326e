import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Waits for an external event, at most `mostMs`, while the request deadline is paused. */
export type PausedWait = <T>(mostMs: number, wait: () => Promise<T>) => Promise<T>;

/** For calls whose response may wait for a phone: their deadline excludes that wait. */
export const PauseDeadline = createParamDecorator((_: unknown, context: ExecutionContext): PausedWait => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return (mostMs, wait) => request.deadline.pauseWhile(request, mostMs, wait);
});
