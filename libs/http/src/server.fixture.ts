import { once } from 'node:events';
import type { Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';

/** Starts a server on loopback; returns a client that is connected to it. */
export async function startWithClient(server: Server): Promise<net.Socket> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Ends both, with all other connections of the server. */
export function end(server: Server, socket: net.Socket): void {
  socket.destroy();
  server.closeAllConnections();
  server.close();
}
