import type { Tenant } from '@countersign/keys';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RefusedRequest } from '../http/errors.js';
import { parseIdempotencyKey } from './idempotency-key.js';

/** What makes two requests the same one (contract, Idempotency: account, method and path, key, raw body). */
export interface RepeatableRequest {
  readonly tenant: Tenant;
  readonly method: string;
  /** The pattern of the route with its parameters, so that one path in two spellings is one. */
  readonly path: string;
  readonly key: string;
  /** SHA-256 of the body's octets; empty where the call has no body. */
  readonly bodyDigest: Buffer;
}

/** A call that may be a repetition. */
export interface IdempotentCall {
  /** Null without an Idempotency-Key: the call stands for itself. */
  readonly request: RepeatableRequest | null;
  /** Says in the answer that it is an earlier one. */
  markReplayed(): void;
}

const NO_BODY = Buffer.alloc(0);
const NO_KEY = new RefusedRequest({
  code: 'VALIDATION_ERROR',
  message: 'Idempotency-Key must be 1 to 255 printable ASCII characters.',
  field: 'Idempotency-Key',
});

const HEADER = ApiHeader({
  name: 'Idempotency-Key',
  required: false,
  description:
    'Up to 255 printable ASCII characters that no other request has. For 24 hours a repetition, with the same key and the very same body, gets the answer of the first, and nothing is done twice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
});

/** What the API description says of the header, for the handler whose parameter this is. */
const describeHeader: ParameterDecorator = (target, name) => {
  if (name === undefined) return;
  const handler = Object.getOwnPropertyDescriptor(target, name);
  if (handler !== undefined) HEADER(target, name, handler);
};

/** For routes with a scope: the call as IdempotencyService takes it. */
export const Idempotent = createParamDecorator(
  (_: unknown, context: ExecutionContext): IdempotentCall => {
    const http = context.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    return {
      request: repeatable(http.getRequest<FastifyRequest>()),
      markReplayed: () => void reply.header('idempotent-replayed', 'true'),
    };
  },
  [describeHeader],
);

function repeatable(request: FastifyRequest): RepeatableRequest | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = typeof header === 'string' ? parseIdempotencyKey(header) : null;
  if (key === null) throw NO_KEY;
  const { caller, method, routeOptions, params } = request;
  if (caller === null || caller.kind === 'admin') throw new Error('a route with a scope was reached without a key');
  return {
    tenant: caller.tenant,
    method,
    path: `${routeOptions.url ?? ''} ${JSON.stringify(params)}`,
    key,
    // Where a call has no body, nothing and `{}` are the same call.
    bodyDigest: request.bodyDigest ?? NO_BODY,
  };
}
