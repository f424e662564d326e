import type { IncomingMessage } from 'node:http';
import { WholeBodyRequest } from './body-pieces.js';

/**
 * Fields of a head from which on Node drops further ones (`maxHeadersCount`): a request with that many could have fields that we do
 * not see, and is refused. A field of three octets takes ten times as many in memory.
 */
export const MAX_HEADER_FIELDS = 100;
/** Each is a name and a value. */
const MAX_RAW_HEADERS = 2 * MAX_HEADER_FIELDS;

/**
 * Why a request must be refused with 400 because of its headers; null for one that may be answered. A second `Host` (RFC
 * 9112, 3.2) or `Authorization` (RFC 9110, 5.3 and 11.6.2) is ambiguous: of both Node keeps the first, and a proxy may keep
 * the last. The text names no value of the request.
 */
export function headFault({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): string | null {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (rawHeaders.length >= MAX_RAW_HEADERS) return 'The request has too many headers.';
  if (hosts > 1) return 'The request has more than one Host header.';
  if (hosts === 0 && httpVersion === '1.1') return 'The request has no Host header.';
  return authorizations > 1 ? 'The request has more than one Authorization header.' : null;
}

/**
 * Whether an `Upgrade` header offers WebSocket, alone or beside others (RFC 9110, 7.8: a list of protocols, their names in
 * any case; RFC 6455, 4.2.1).
 */
export const offersWebSocket = (upgrade: string | undefined): boolean =>
  upgrade !== undefined && /(?:^|,)[ \t]*websocket[ \t]*(?:,|$)/i.test(upgrade);

/**
 * A request whose upgrade Node announces only when it offers WebSocket; an offer of another protocol, as `h2c`, is ignored
 * and the request answered (RFC 9110, 7.8). For servers with a listener of `upgrade`, as the option `IncomingMessage`.
 * Node assigns `upgrade` before the headers are known and reads it afterwards.
 */
export class WebSocketOrPlainRequest extends WholeBodyRequest {
  // Assigned by the constructor of the base class already, so it must not be initialized here.
  declare private asksForUpgrade: boolean | null;

  get upgrade(): boolean {
    if (this.asksForUpgrade !== true) return false;
    return this.method === 'CONNECT' || offersWebSocket(this.headers.upgrade);
  }

  set upgrade(asked: boolean | null) {
    this.asksForUpgrade = asked;
  }
}
