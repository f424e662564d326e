import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of unanswered requests of one HTTP/1.1 connection. */
const MAX_PIPELINED_REQUESTS = 64;

/**
 * Destroys connections with more unanswered requests than MAX_PIPELINED_REQUESTS (pipelining, RFC 9112 section
 * 9.3.2). Node parses all requests of one chunk at once and starts a handler for each: 64 KB contain more than a
 * thousand. A handler that is started afterwards has a destroyed socket.
 *
 * A connection closes after a request with an `Upgrade` that the server ignores: of a further request in the same chunk
 * Node loses the octets, and would read the rest as another one.
 */
export function boundPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket, headers }, response) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    if (count > MAX_PIPELINED_REQUESTS) socket.destroy();
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  });
}
