import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

/** Connections with a request that was refused before its body was read. */
const answeredUnread = new WeakSet<Duplex>();
/** A body up to this size is read and discarded, so that its connection can be reused. */
const MAX_UNREAD_OCTETS = 64 * 1024;

/** Call before a request is refused whose body was not read. Returns whether its connection is to be closed: the body is large. */
export function leaveUnread(socket: Duplex, headers: IncomingHttpHeaders): boolean {
  const length = Number(headers['content-length'] ?? 0);
  const chunked = headers['transfer-encoding'] !== undefined;
  if (length === 0 && !chunked) return false;
  answeredUnread.add(socket);
  return chunked || length > MAX_UNREAD_OCTETS;
}

/** Whether a request on this connection was refused before its body was read. */
export const wasAnsweredUnread = (socket: Duplex): boolean => answeredUnread.has(socket);
