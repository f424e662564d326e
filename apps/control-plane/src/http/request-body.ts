import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { RefusedRequest } from './errors.js';
import { parseJsonObject, type JsonObject } from './json-body.js';
import type { BodyKind } from './route-access.js';

/** Fits the largest legal body: 16 metadata values of 512 characters, every one escaped. */
export const MAX_BODY_OCTETS = 128 * 1024;
/** Of a body that anybody may send; fits a key of 200 characters. */
export const MAX_SIGN_IN_OCTETS = 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body's octets, when the call has a JSON body and an Idempotency-Key; else null. */
    bodyDigest: Buffer | null;
  }
}

/**
 * The body of a request: a JSON object, or undefined when there is none. Throws RefusedRequest for another media type
 * and for anything but a JSON object, in this order (contract, Order).
 */
export function readBody(request: FastifyRequest, octets: Buffer): JsonObject | undefined {
  if (octets.length === 0) return undefined;
  if (request.headers['idempotency-key'] !== undefined && bodyKindOf(request) === 'json') {
    request.bodyDigest = createHash('sha256').update(octets).digest();
  }
  if (!isJson(request)) throw new RefusedRequest({ code: 'UNSUPPORTED_MEDIA_TYPE' });
  const body = parseJsonObject(octets);
  if (!body.ok) throw new RefusedRequest({ code: 'MALFORMED_REQUEST', message: body.because });
  return body.value;
}

/** Whether the headers announce a body that no sign-in has, or one of unknown length. */
export const isLargeForSignIn = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MAX_SIGN_IN_OCTETS;

/** The body kind of the route; null when no route declares one. */
function bodyKindOf({ routeOptions }: FastifyRequest): BodyKind | null {
  const { route } = routeOptions.config;
  return route === undefined || route.access === 'public' ? null : route.body;
}

function isJson(request: FastifyRequest): boolean {
  const { headers } = request;
  if (!['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase())) return false;
  const contentType = headers['content-type'];
  if (contentType === undefined) return bodyKindOf(request) === 'none';
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  return mediaType.trim() === 'application/json' && parameters.every(isHarmless);
}

/** A parameter that does not change the decoding: anything but a character set other than UTF-8. */
function isHarmless(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || ['utf-8', '"utf-8"'].includes(value.trim());
}
