import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnreadAnswers } from './unread-answers.js';

const MIB = 1024 * 1024;
/** Octets of an answer that the operating system buffers before the client reads are a few mebibytes. */
const ANSWER = Buffer.alloc(8 * MIB, 'x');
const LIMITS = { octets: 64 * MIB, octetsOfOwner: 24 * MIB, publicAnswers: 2 };

let nowMs: number;
let answers: UnreadAnswers;
let server: http.Server;
let clients: net.Socket[];
/** Names of clients whose connections were closed. */
let closed: string[];

beforeEach(async () => {
  [nowMs, clients, closed] = [0, [], []];
  answers = new UnreadAnswers(LIMITS, () => nowMs);
  server = http.createServer(({ url = '', socket, headers }, response) => {
    const body = url.endsWith('small') ? Buffer.from('x') : ANSWER;
    const caller = url.split('/')[1] ?? '';
    const address = String(headers['x-address'] ?? '192.0.2.1');
    if (caller === 'public') answers.trackPublic(address, socket, response);
    const tracker = answers;
    const answer = tracker.track(socket, caller === 'public' ? null : caller, body.length);
    response.once('finish', () => tracker.remove(answer)).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const client of clients) client.destroy();
  server.closeAllConnections();
  server.close();
});

/** A client that sends these requests and reads nothing before it is resumed; settles when the server has answered. */
async function client(name: string, paths: readonly string[], address = '192.0.2.1'): Promise<net.Socket> {
  const names = closed;
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(socket);
  socket.on('error', () => undefined).pause();
  const [[ours]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [
    [net.Socket],
    unknown,
  ];
  ours.once('close', () => names.push(name));
  const answered = new Promise((resolve) => server.once('request', resolve));
  socket.write(paths.map((path) => `GET /${path} HTTP/1.1\r\nHost: x\r\nX-Address: ${address}\r\n\r\n`).join(''));
  await answered;
  return socket;
}

describe('answers that are not read', () => {
  it('of one owner are closed beyond its octets, the oldest first', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await client(name, ['a']);
    await expect.poll(() => closed).toEqual(['a1', 'a2']);
    expect(answers.octets).toBe(LIMITS.octetsOfOwner);
  });

  it('do not count against the limits once their connection is destroyed', async () => {
    await client('a1', ['a']);
    const pipelined = await client('a2', ['a', 'a']);
    expect(answers.octets).toBe(LIMITS.octetsOfOwner);
    pipelined.destroy();
    await expect.poll(() => closed).toEqual(['a2']);
    await client('a3', ['a']);
    await client('a4', ['a']);
    expect(answers.octets).toBe(LIMITS.octetsOfOwner);
    // A connection that was closed for these would have been reported by then.
    await client('b', ['b']);
    expect(closed).toEqual(['a2']);
  });

  it('of all keys are closed beyond the octets of the process, the oldest of the one with the most first', async () => {
    for (const name of ['a', 'b', 'c', 'c', 'd', 'd', 'e']) await client(name, [name]);
    expect(answers.octets).toBe(56 * MIB);
    for (const name of ['a', 'a', 'c']) await client(name, [name]);
    await expect.poll(() => closed).toEqual(['a', 'c']);
    expect(answers.octets).toBe(LIMITS.octets);
  });

  it('of public routes are closed beyond their number, the oldest first', async () => {
    await client('key', ['a']);
    for (const name of ['p1', 'p2', 'p3', 'p4']) await client(name, ['public']);
    await expect.poll(() => closed).toEqual(['p1', 'p2']);
    expect(answers.octets).toBe(ANSWER.length);
  });

  it('of public routes are closed beyond their number of the network that has the most', async () => {
    await client('honest', ['public'], '203.0.113.7');
    for (const [at, name] of ['f1', 'f2', 'f3'].entries()) await client(name, ['public'], `2001:db8::${at}`);
    await expect.poll(() => closed).toEqual(['f1', 'f2']);
  });

  it('of public routes count no longer once they are read', async () => {
    await client('unread', ['public']);
    const reader = await client('reader', ['public/small']);
    reader.resume();
    const [read] = (await once(reader, 'data')) as [Buffer];
    expect(read.toString()).toContain('200 OK');
    for (const name of ['p3', 'p4', 'p5']) await client(name, ['public']);
    await expect.poll(() => closed).toEqual(['unread', 'p3']);
  });

  it('count no longer once they are read', async () => {
    const reader = await client('reader', ['a']);
    expect(answers.octets).toBe(ANSWER.length);
    reader.resume();
    await expect.poll(() => answers.octets).toBe(0);
    expect(closed).toEqual([]);
  });

  it('are closed after 30 s, also those of clients that read an octet now and then and those without a key', async () => {
    const slow = await client('slow', ['a']);
    await client('public', ['public']);
    const reader = await client('reader', ['b']);
    reader.resume();
    await expect.poll(() => answers.octets).toBe(ANSWER.length);
    for (nowMs = 0; nowMs < 30_000; nowMs += 5_000) {
      const read = once(slow, 'data');
      slow.resume();
      await read;
      slow.pause();
      answers.sweep();
    }
    expect(closed).toEqual([]);
    answers.sweep();
    await expect.poll(() => [...closed].sort()).toEqual(['public', 'slow']);
    expect(answers.octets).toBe(0);
  });

  it('of pipelined requests behind an unread one are forgotten with their connection', async () => {
    const socket = await client('pipelined', ['a', 'a/small', 'a/small']);
    expect(answers.octets).toBe(ANSWER.length + 2);
    socket.destroy();
    await expect.poll(() => closed).toEqual(['pipelined']);
    answers.sweep();
    expect(answers.octets).toBe(0);
  });
});
