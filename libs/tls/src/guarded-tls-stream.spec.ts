import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { GuardedTlsStream } from './guarded-tls-stream.js';

const OCTETS = 1024 * 1024;

describe('a TLS connection over a guarded stream', () => {
  it('passes all octets in both directions, and the end of each', async () => {
    const altNames = [{ type: 7 as const, ip: '127.0.0.1' }];
    const pems = await generate([{ name: 'commonName', value: 'peer' }], {
      extensions: [{ name: 'subjectAltName', altNames }],
    });
    const server = tls.createServer({ cert: pems.cert, key: pems.private, allowHalfOpen: true });
    server.on('secureConnection', (socket) => void socket.pipe(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const stream = new GuardedTlsStream(connect((server.address() as AddressInfo).port, '127.0.0.1'));
    const socket = tls.connect({
      socket: stream,
      ca: pems.cert,
      host: '127.0.0.1',
      servername: '',
    });
    await once(socket, 'secureConnect');
    stream.complete(() => socket.bytesRead);
    const sent = Buffer.alloc(OCTETS, 'abcdefg');
    socket.end(sent);
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    await once(socket, 'end');
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    server.close();
  });
});
