import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boundRequests } from './bounded-requests.js';
import { end, startWithClient } from './server.fixture.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: http.Server;
let started: {
  readonly destroyed: boolean;
  readonly socket: net.Socket;
  readonly response: http.ServerResponse;
}[];
let socket: net.Socket;

beforeEach(async () => {
  started = [];
  server = http.createServer((request, response) => {
    const { socket: own } = request;
    started.push({ destroyed: own.destroyed, socket: own, response });
  });
  boundRequests(server);
  socket = await startWithClient(server);
});
afterEach(() => end(server, socket));

describe('unanswered requests of one connection', () => {
  it('are 64 at most: a further one closes the connection, and the rest of the chunk is not read', async () => {
    socket.write(REQUEST.repeat(1_000));
    await once(socket.resume(), 'close');
    expect(started.map(({ destroyed }) => destroyed)).toEqual([...Array.from({ length: 64 }, () => false), true]);
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

describe('broken octets', () => {
  const POST = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const BROKEN = 'no request\r\n\r\n';
  const BROKEN_CHUNK = 'zz\r\n';

  const answerTo = async (octets: string): Promise<string> => {
    server.on('clientError', (_error, broken) => {
      if (broken.writable) broken.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.write(octets);
    await once(socket, 'close');
    return answer.split('\r\n')[0] ?? '';
  };

  it.each([
    ['as a first request', BROKEN],
    ['in the body of a first request', POST + BROKEN_CHUNK],
  ])('%s are refused', async (_, octets) => {
    expect(await answerTo(octets)).toBe('HTTP/1.1 400 Bad Request');
  });

  it.each([
    ['behind a request that is not answered', REQUEST + BROKEN],
    ['in the body of a request behind one that is not answered', REQUEST + POST + BROKEN_CHUNK],
  ])('%s close the connection, without a refusal that would be read as its answer', async (_, octets) => {
    expect(await answerTo(octets)).toBe('');
    expect(started).not.toEqual([]);
  });
});

describe('unanswered requests of many connections', () => {
  const CONNECTIONS = 60;
  let sockets: net.Socket[];

  const connectAll = async (): Promise<void> => {
    const { port } = server.address() as AddressInfo;
    sockets = Array.from({ length: CONNECTIONS }, () => net.connect(port, '127.0.0.1'));
    for (const each of sockets) each.on('error', () => undefined).resume();
    await Promise.all(sockets.map((each) => once(each, 'connect')));
  };
  const open = (): number => started.filter(({ socket: own }) => !own.destroyed).length;
  const closed = (): number => sockets.filter(({ destroyed }) => destroyed).length;

  afterEach(() => {
    for (const each of sockets) each.destroy();
  });

  it('are two of each and 1,024 in all: connections that pipeline more are closed, the others stay', async () => {
    await connectAll();
    for (const each of sockets.slice(0, 40)) each.write(REQUEST.repeat(64));
    await expect.poll(closed).toBe(40 - Math.floor(1_024 / 62));
    await expect.poll(open).toBe(16 * 64);
    for (const each of sockets.slice(40)) each.write(REQUEST.repeat(2));
    await expect.poll(open).toBe(16 * 64 + 20 * 2);
    expect(closed()).toBe(40 - Math.floor(1_024 / 62));
  });

  it('do not count after their connections are closed', async () => {
    for (let round = 1; round <= 3; round += 1) {
      await connectAll();
      started = [];
      for (const each of sockets.slice(0, 16)) each.write(REQUEST.repeat(64));
      await expect.poll(() => started.length).toBe(16 * 64);
      expect(started.filter(({ destroyed }) => destroyed)).toEqual([]);
      for (const each of sockets) each.destroy();
      await expect.poll(open).toBe(0);
    }
  });
});
