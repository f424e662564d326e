import type { Socket } from 'node:net';

/** Name of a connection; the same for a TLS socket and its underlying TCP socket, which it does not name. */
export const connectionName = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress ?? ''} ${remotePort ?? 0} ${localPort ?? 0}`;
