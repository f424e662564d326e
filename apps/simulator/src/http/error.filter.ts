import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RpcRefusal } from './rpc-refusal.js';
import { Refusal } from './refusal.js';

const CODES: Readonly<Record<number, string>> = {
  400: 'MALFORMED_REQUEST',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** Paths of the RBM API, whose errors have the form of google.rpc. */
const RPC_PATHS = '/v1/';

/** Renders every error of the simulator's HTTP side in one shape, and errors of the RBM API in theirs. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (http.getRequest<FastifyRequest>().url.startsWith(RPC_PATHS)) {
      const { code, body } = asRpcRefusal(error);
      void reply.status(code).send(body);
      return;
    }
    const { status, code, message, field } = asRefusal(error);
    void reply.status(status).send({ error: { code, message, ...(field === undefined ? {} : { field }) } });
  }
}

function asRpcRefusal(error: unknown): RpcRefusal {
  if (error instanceof RpcRefusal) return error;
  const { status, message } = asRefusal(error);
  return new RpcRefusal(status, message);
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const status = statusOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal(status, CODES[status] ?? 'INTERNAL_ERROR', message);
}

/** Nest's and Fastify's exceptions both have a status. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const fromFastify = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return fromFastify >= 400 && fromFastify < 600 ? fromFastify : 500;
}
