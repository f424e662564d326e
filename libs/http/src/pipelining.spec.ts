import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boundPipelining } from './pipelining.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: http.Server;
let started: { readonly destroyed: boolean; readonly response: http.ServerResponse }[];
let socket: net.Socket;

beforeEach(async () => {
  started = [];
  server = http.createServer((request, response) => {
    started.push({ destroyed: request.socket.destroyed, response });
  });
  boundPipelining(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
});
afterEach(() => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

describe('unanswered requests of one connection', () => {
  it('are 64 at most: a further one closes the connection, and its handler has no socket', async () => {
    socket.write(REQUEST.repeat(1_000));
    await once(socket.resume(), 'close');
    expect(started.filter(({ destroyed }) => !destroyed)).toHaveLength(64);
  });

  it('do not count after they are answered', async () => {
    for (let round = 1; round <= 4; round += 1) {
      socket.write(REQUEST.repeat(60));
      await expect.poll(() => started.length).toBe(60 * round);
      for (const { response } of started.slice(-60)) response.end('answer');
      await expect.poll(() => started.filter(({ response }) => !response.closed)).toEqual([]);
    }
    expect(started.filter(({ destroyed }) => destroyed)).toEqual([]);
  });
});
