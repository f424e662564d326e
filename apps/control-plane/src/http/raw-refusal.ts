import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, errorBody, type Refusal } from './errors.js';

/** Node's codes for a head that outgrew the limit, and for a request that did not arrive in time. */
const HEAD_TOO_LARGE = 'HPE_HEADER_OVERFLOW';
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

/** What broken HTTP is refused with, by Node's code for it. */
export function refusalOfBrokenHttp(nodeCode: string | undefined): Refusal {
  if (nodeCode === HEAD_TOO_LARGE) return { code: 'PAYLOAD_TOO_LARGE', message: 'The request headers are too large.' };
  const because = nodeCode === TOO_SLOW ? 'The request did not arrive in time.' : 'The request is not valid HTTP/1.1.';
  return { code: 'MALFORMED_REQUEST', message: because };
}

/**
 * The whole answer to a request that never became one, as text for its socket: the parser has given up on the
 * connection, so it closes.
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

/** Answers on a socket whose request could not be parsed, if anybody is still there to read it. */
export function refuseRaw(socket: Duplex, answer: string): void {
  if (socket.writable) socket.end(answer);
  else socket.destroy();
}
