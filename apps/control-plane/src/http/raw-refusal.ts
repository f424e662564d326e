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

/** Whether an error came before there was any HTTP: there is no line to answer on then. */
export function isBelowHttp(nodeCode: string | undefined): boolean {
  return nodeCode !== undefined && /^(ERR_(TLS|SSL)_|ECONN)/.test(nodeCode);
}

/** How long a client may take to read the answer and to close; one that does neither would keep the connection for ever. */
const LINGER_MS = 1_000;

/** Answers on a socket whose request could not be parsed, if anybody is still there to read it. */
export function refuseRaw(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
