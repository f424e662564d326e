import type { Socket } from 'node:net';
import type { LinkEnds } from './pdu-ring.js';

/** The addresses of a connected socket, after name lookup. */
export function linkEndsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): LinkEnds {
  return {
    local: { address: localAddress ?? '', port: localPort ?? 0 },
    remote: { address: remoteAddress ?? '', port: remotePort ?? 0 },
  };
}
