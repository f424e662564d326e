import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { BODY_FRAGMENTED } from '@countersign/http';
import { ERRORS, errorBody, type Refusal } from './errors.js';

/** Node's codes for oversized headers and for a request that did not arrive in time. */
const HEAD_TOO_LARGE = 'HPE_HEADER_OVERFLOW';
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

const REASONS = new Map([
  [TOO_SLOW, 'The request did not arrive in time.'],
  [BODY_FRAGMENTED, 'The body arrives in too many small chunks: send it in chunks of 128 octets or more.'],
]);

/** The refusal of broken HTTP, by Node's error code. */
export function refusalOfBrokenHttp(nodeCode: string | undefined): Refusal {
  if (nodeCode === HEAD_TOO_LARGE) return { code: 'PAYLOAD_TOO_LARGE', message: 'The request headers are too large.' };
  return { code: 'MALFORMED_REQUEST', message: REASONS.get(nodeCode ?? '') ?? 'The request is not valid HTTP/1.1.' };
}

/**
 * The complete response to an unparsable request, as text for its socket; the parser has stopped, so the connection
 * closes.
 */
export function rawAnswer(refusal: Refusal, publicBaseUrl: string, headers: Readonly<Record<string, string>>): string {
  const body = errorBody(refusal, publicBaseUrl);
  const { status } = ERRORS[refusal.code];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Whether an error occurred before any HTTP was received, so that no response can be sent. */
export function isBelowHttp(nodeCode: string | undefined): boolean {
  return nodeCode !== undefined && /^(ERR_(TLS|SSL)_|ECONN)/.test(nodeCode);
}

/** Time for a client to read the response and to close; afterwards the socket is destroyed. */
const LINGER_MS = 1_000;

/** Responds on a socket whose request could not be parsed, if it is still writable. */
export function refuseRaw(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
