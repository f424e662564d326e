import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * Octets that are received after a request while the head of its response is not complete. undici counts headers, and neither
 * a status line with an endless reason phrase nor interim responses.
 */
const MAX_REPLY_HEAD_OCTETS = 32 * 1024;

/**
 * Closes a connection whose response has no complete head after `MAX_REPLY_HEAD_OCTETS`, with a HeadersOverflowError. Call it
 * before the connection is used. A response whose head is complete is not closed here: the limit of its body is smaller.
 */
export function boundReplyHead(socket: Socket): void {
  let requested = 0;
  let atRequest = 0;
  let seen = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== requested) {
      requested = socket.bytesWritten;
      atRequest = seen;
    }
    // Octets of earlier events have been parsed: with a complete head, the connection would be closed by now.
    if (seen - atRequest > MAX_REPLY_HEAD_OCTETS) socket.destroy(new errors.HeadersOverflowError());
    seen = socket.bytesRead;
  });
}
