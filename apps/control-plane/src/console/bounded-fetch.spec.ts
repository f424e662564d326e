import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundedFetch } from './bounded-fetch.js';

let server: Server;
let url: string;
let sent = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/none') response.writeHead(204).end();
    if (request.url === '/json') response.writeHead(201, { 'content-type': 'application/json' }).end('{"a":1}');
    if (request.url !== '/endless') return;
    const chunk = 'x'.repeat(65_536);
    const goOn = (): void => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', goOn);
    goOn();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const get = (path: string): Promise<Response> =>
  boundedFetch(`${url}${path}`, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' });

describe('a bounded fetch', () => {
  it('passes on an answer, also one without a body', async () => {
    const answer = await get('/json');
    expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toEqual([
      201,
      'application/json',
      { a: 1 },
    ]);
    const none = await get('/none');
    expect([none.status, await none.text()]).toEqual([204, '']);
  });

  it('rejects an answer without end, and closes its connection', async () => {
    const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)));
    await expect(get('/endless')).rejects.toThrow('more than 262144 octets');
    await closed;
    expect(sent).toBeLessThan(16_777_216);
  });
});
