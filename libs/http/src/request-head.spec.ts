import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundRequests } from './bounded-requests.js';
import { headFault, offersWebSocket, WebSocketOrPlainRequest } from './request-head.js';

let server: http.Server;

beforeAll(async () => {
  server = http.createServer(
    { IncomingMessage: WebSocketOrPlainRequest, requireHostHeader: false },
    (request, response) =>
      request.resume().once('end', () => response.end(`${request.url ?? ''}: ${headFault(request) ?? 'sound'}`)),
  );
  boundRequests(server);
  server.on('upgrade', ({ url = '' }: http.IncomingMessage, socket: net.Socket) => socket.end(`upgraded ${url}`));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends octets, and returns everything received until the server closes. */
async function raw(octets: string): Promise<string> {
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (data: Buffer) => (text += data.toString('latin1'))).on('error', () => undefined);
  socket.write(octets, 'latin1');
  await once(socket, 'close');
  return text;
}

const anyCase = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(...Array.from(name, (letter) => fc.constantFrom(letter, letter.toUpperCase())))
    .map((letters) => letters.join(''));
const names = fc.oneof(
  anyCase('host'),
  anyCase('authorization'),
  fc.constantFrom('hosts', 'x-host', 'proxy-authorization', 'x-authorization', 'content-type', 'cost'),
);
const values = fc.constantFrom('a', '', 'host', 'authorization', 'Bearer x');

describe('the head of a request', () => {
  it('has a fault exactly when it has two Hosts, none in HTTP/1.1, or two Authorizations', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(names, values), { maxLength: 8 }),
        fc.constantFrom('1.1', '1.0'),
        async (headers, version) => {
          const count = (wanted: string): number => headers.filter(([name]) => name.toLowerCase() === wanted).length;
          const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
          const answer = await raw(`GET /x HTTP/${version}\r\n${lines}Connection: close\r\n\r\n`);
          const isSound =
            count('host') <= 1 && count('authorization') <= 1 && (count('host') === 1 || version === '1.0');
          expect(answer).toContain('HTTP/1.1 200 OK\r\n');
          expect(answer.endsWith('/x: sound')).toBe(isSound);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['Host', 'more than one Host header'],
    ['aUTHORIZATION', 'more than one Authorization header'],
  ])('has a fault with a second %s, of the same value too', async (name, fault) => {
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nConnection: close\r\n';
    for (const value of ['x', 'Bearer a', '']) expect(await raw(`${head}${name}: ${value}\r\n\r\n`)).toContain(fault);
  });

  it('has a fault when a second Host may be among headers that Node drops', async () => {
    const padding = (count: number): string => 'a:\r\n'.repeat(count);
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    expect(await raw(`${head}${padding(1_500)}Host: y\r\n\r\n`)).toContain('too many headers');
    expect(await raw(`${head}${padding(90)}Host: y\r\n\r\n`)).toContain('more than one Host');
    expect(await raw(`${head}${padding(97)}\r\n`)).toContain('/: sound');
    expect(await raw(`${head}${padding(98)}\r\n`)).toContain('too many headers');
  });
});

describe('an upgrade', () => {
  const h2c = 'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';

  it('to h2c is ignored: the request is answered, and its connection closes', async () => {
    const answer = await raw(`GET /a HTTP/1.1\r\n${h2c}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('\r\nConnection: close\r\n');
    expect(answer).toMatch(/\/a: sound$/);
  });

  it('to h2c with a body is answered after its body', async () => {
    expect(await raw(`POST /b HTTP/1.1\r\n${h2c}Content-Length: 3\r\n\r\nabc`)).toMatch(/\/b: sound$/);
  });

  it('to h2c with a further request in the same chunk is answered once, and nothing behind it is read as a request', async () => {
    const answer = await raw(`GET /a HTTP/1.1\r\n${h2c}\r\nGET /inner HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200']);
    expect(answer).not.toContain('/inner');
  });

  it.each(['websocket', 'WebSocket', 'h2c, websocket', 'websocket ,foo'])('to %s is announced', async (offer) => {
    const octets = `GET /w HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${offer}\r\n\r\n`;
    expect(await raw(octets)).toBe('upgraded /w');
  });

  it('offers WebSocket when one of the listed protocols is it, whatever their case and spaces', () => {
    const protocols = fc.constantFrom('h2c', 'websocket', 'WEBSOCKET', 'websockets', 'web socket', 'TLS/1.0', '');
    const spaced = fc.tuple(fc.constantFrom('', ' ', '\t'), protocols, fc.constantFrom('', ' ', '\t '));
    fc.assert(
      fc.property(fc.array(spaced, { maxLength: 5 }), (list) => {
        const header = list.map((parts) => parts.join('')).join(',');
        expect(offersWebSocket(header)).toBe(list.some(([, name]) => name.toLowerCase() === 'websocket'));
      }),
    );
    expect(offersWebSocket(undefined)).toBe(false);
  });
});
