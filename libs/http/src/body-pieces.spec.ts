import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BODY_FRAGMENTED, WholeBodyRequest } from './body-pieces.js';
import { boundRequests } from './bounded-requests.js';
import { end, startWithClient } from './server.fixture.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

let server: http.Server;
let socket: net.Socket;
let connection: net.Socket;
let pieces: number;
let octets: number;

beforeEach(async () => {
  [pieces, octets] = [0, 0];
  server = http.createServer({ IncomingMessage: WholeBodyRequest }, (request, response) => {
    request.on('data', (piece: Buffer) => {
      pieces += 1;
      octets += piece.length;
    });
    request.on('end', () => response.end(`${octets} octets`));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, broken) => {
    if (broken.writable) broken.end(`HTTP/1.1 400 ${error.code ?? ''}\r\n\r\n`);
  });
  server.on('connection', (accepted) => (connection = accepted));
  boundRequests(server);
  socket = await startWithClient(server);
});
afterEach(() => end(server, socket));

async function answerTo(chunkOctets: number, chunks: number): Promise<string> {
  const chunk = `${chunkOctets.toString(16)}\r\n${'x'.repeat(chunkOctets)}\r\n`;
  socket.write(`${HEAD}${chunk.repeat(chunks)}0\r\n\r\n`);
  return String((await once(socket, 'data'))[0]);
}

it.each([
  [128, 1_000],
  [1, 128],
  [8_192, 16],
])('accepts a body in chunks of %i octets, %i of them', async (size, chunks) => {
  const answer = await answerTo(size, chunks);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toContain(`\n${size * chunks} octets`);
});

it.each([
  [1, 129],
  [1, 100_000],
  [63, 2_000],
])('refuses a body in chunks of %i octets, %i of them, at the 129th', async (size, chunks) => {
  expect(await answerTo(size, chunks)).toContain(`400 ${BODY_FRAGMENTED}`);
  expect(pieces).toBe(128);
});

it('reads no more of the connection after that', async () => {
  await answerTo(1, 500_000);
  expect(connection.bytesRead).toBeLessThan(200_000);
  expect(pieces).toBe(128);
});
