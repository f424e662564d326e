import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, RefusedRequest } from '../http/errors.js';

/** Contract, Realtime. */
export const SUBPROTOCOL = 'countersign.v1';
export const REALTIME_PATH = '/v1/realtime';
/** The same, authorized by the cookie of a session of the console. */
export const CONSOLE_REALTIME_PATH = '/console/api/v1/realtime';
/** RFC 6455, 4.2.1: 16 octets in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** The properties of an upgrade request. */
export interface Handshake {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Null for a WebSocket handshake (RFC 6455, 4.2.1) on a realtime path; authorization is separate. */
export function judgeHandshake({ method, url = '', headers }: Handshake): RefusedRequest | null {
  const path = pathOf(url);
  if (path !== REALTIME_PATH && path !== CONSOLE_REALTIME_PATH) return refused('NOT_FOUND');
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') {
    return refused('MALFORMED_REQUEST', 'This address is reached by a WebSocket handshake.');
  }
  if (headers['sec-websocket-version'] !== VERSION) {
    const message = `Only version ${VERSION} of the WebSocket protocol is spoken here.`;
    return RefusedRequest.withHeaders({ code: 'MALFORMED_REQUEST', message }, { 'sec-websocket-version': VERSION });
  }
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) {
    return refused('MALFORMED_REQUEST', 'Sec-WebSocket-Key must be 16 octets in base64.');
  }
  return speaksOurs(headers['sec-websocket-protocol']) ? null : refused('MALFORMED_REQUEST', OTHER_PROTOCOL);
}

/** Whether a cookie authorizes the handshake, and no key does. */
export const isConsoleHandshake = ({ url = '' }: Pick<Handshake, 'url'>): boolean =>
  pathOf(url) === CONSOLE_REALTIME_PATH;

const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '';

const OTHER_PROTOCOL = `The subprotocol spoken here is ${SUBPROTOCOL}.`;
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Whether our subprotocol is accepted: it is offered, or none is. Names are tokens, each of them once (RFC 6455, 4.1).
 */
function speaksOurs(offered: string | undefined): boolean {
  if (offered === undefined) return true;
  const names = offered.split(',').map((name) => name.replace(/^[ \t]+|[ \t]+$/g, ''));
  const unique = new Set(names);
  return unique.size === names.length && names.every((name) => TOKEN.test(name)) && unique.has(SUBPROTOCOL);
}

const refused = (code: ErrorCode, message?: string): RefusedRequest =>
  new RefusedRequest(message === undefined ? { code } : { code, message });
