import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refusal } from './refusal.js';

const CODES: Readonly<Record<number, string>> = {
  400: 'MALFORMED_REQUEST',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** Every error of the simulator's HTTP side in one shape. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const { status, code, message, field } = asRefusal(error);
    const body = { error: { code, message, ...(field === undefined ? {} : { field }) } };
    void host.switchToHttp().getResponse<FastifyReply>().status(status).send(body);
  }
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = statusOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal(status, CODES[status] ?? 'INTERNAL_ERROR', message);
}

/** Nest's exceptions and Fastify's own both carry one. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const fromFastify = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return fromFastify >= 400 && fromFastify < 600 ? fromFastify : 500;
}
