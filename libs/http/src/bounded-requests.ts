import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FragmentedBody } from './body-pieces.js';
import { MAX_HEADER_FIELDS } from './request-head.js';

/** Maximum number of unanswered requests of one HTTP/1.1 connection. */
const MAX_PIPELINED_REQUESTS = 64;
/** Of these, requests that are not counted as pipelined: the next one may be read before an answer is known to be sent. */
const UNCOUNTED_REQUESTS = 2;
/** Maximum number of pipelined requests of all connections of a server. */
const MAX_PIPELINED_OF_SERVER = 1_024;

/**
 * Bounds the memory of requests that are not answered yet: their number, the fields of their heads, and the pieces of their bodies (of
 * a server whose requests are WholeBodyRequests). Node parses all requests of one chunk at once and starts a handler for each
 * (pipelining, RFC 9112 section 9.3.2): 64 KB contain more than a thousand. A connection is destroyed that has more than
 * MAX_PIPELINED_REQUESTS, or one that pipelines while all connections together have MAX_PIPELINED_OF_SERVER; clients do not pipeline.
 *
 * A connection closes after a request with an `Upgrade` that the server ignores: of a further request in the same chunk
 * Node loses the octets, and would read the rest as another one.
 */
export function boundRequests(server: Server): Pick<UnansweredRequests, 'hasAny'> {
  const unanswered = new UnansweredRequests();
  server.maxHeadersCount = MAX_HEADER_FIELDS;
  const boundConnection = (socket: ParsedSocket): void => {
    stopWhenDestroyed(socket);
    socket.once('fragmented', (error: FragmentedBody) => server.emit('clientError', error, socket));
  };
  // After the listener with which the server makes the parser; with TLS it listens to the second.
  server.on('connection', boundConnection);
  server.on('secureConnection', boundConnection);
  server.prependListener('request', ({ socket, headers }, response) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (!unanswered.add(socket)) socket.destroy();
    response.once('close', () => unanswered.remove(socket));
  });
  // The answer to broken octets would be read as that to an earlier request. Listeners after this one find the socket destroyed.
  server.prependListener('clientError', (_error, socket: ParsedSocket) => {
    if (unanswered.hasEarlier(socket)) socket.destroy();
  });
  return unanswered;
}

/** The parser of Node on a socket of a server; its types do not name it. */
interface ParsedSocket extends Socket {
  readonly parser?: {
    onIncoming?: ((request: unknown, shouldKeepAlive: boolean) => number) | null;
    /** The request whose octets are read, or that was read last. */
    readonly incoming?: { readonly complete: boolean } | null;
  } | null;
}

/** Ends the parser: an error in a callback. */
const STOP_PARSING = -1;

/**
 * Ends the parsing of a chunk once its connection is destroyed. Node would parse all requests in it, and keep them until the end of the
 * turn of the event loop: those of hundreds of connections take the memory of the process.
 */
function stopWhenDestroyed(socket: ParsedSocket): void {
  const { parser } = socket;
  const onIncoming = parser?.onIncoming;
  if (parser == null || onIncoming == null) return;
  parser.onIncoming = (request, shouldKeepAlive) =>
    socket.destroyed ? STOP_PARSING : onIncoming(request, shouldKeepAlive);
}

/** Unanswered requests by connection, and how many of all are pipelined. */
class UnansweredRequests {
  readonly #unanswered = new WeakMap<Socket, number>();
  #pipelined = 0;

  /** Whether a request of the connection is not answered. */
  hasAny(socket: Socket): boolean {
    return (this.#unanswered.get(socket) ?? 0) > 0;
  }

  /** Whether a request is not answered that came before the one whose octets are read. */
  hasEarlier(socket: ParsedSocket): boolean {
    const isReading = socket.parser?.incoming?.complete === false;
    return (this.#unanswered.get(socket) ?? 0) > Number(isReading);
  }

  /** Whether the connection may have one more. */
  add(socket: Socket): boolean {
    const before = this.#unanswered.get(socket);
    // The responses that wait for their turn are not closed with the connection.
    if (before === undefined) socket.once('close', () => this.forget(socket));
    const count = (before ?? 0) + 1;
    this.#unanswered.set(socket, count);
    if (count > UNCOUNTED_REQUESTS) this.#pipelined += 1;
    return (
      count <= MAX_PIPELINED_REQUESTS && (count <= UNCOUNTED_REQUESTS || this.#pipelined <= MAX_PIPELINED_OF_SERVER)
    );
  }

  remove(socket: Socket): void {
    const count = this.#unanswered.get(socket) ?? 0;
    if (count === 0) return;
    this.#unanswered.set(socket, count - 1);
    if (count > UNCOUNTED_REQUESTS) this.#pipelined -= 1;
  }

  private forget(socket: Socket): void {
    this.#pipelined -= Math.max(0, (this.#unanswered.get(socket) ?? 0) - UNCOUNTED_REQUESTS);
    this.#unanswered.set(socket, 0);
  }
}
