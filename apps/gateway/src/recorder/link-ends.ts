import type { Socket } from 'node:net';
import type { LinkEnds } from './pdu-ring.js';

/** Of a socket that is connected; a look-up of its name is what the socket says, not what the row says. */
export function linkEndsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): LinkEnds {
  return {
    local: { address: localAddress ?? '', port: localPort ?? 0 },
    remote: { address: remoteAddress ?? '', port: remotePort ?? 0 },
  };
}
