import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { createLogger } from '@countersign/telemetry';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiServer } from '../../apps/control-plane/src/http/server.js';
import { SmppPorts } from '../../apps/gateway/src/listener/smpp-ports.js';
import { freePort } from '../../config/stack/ports.mjs';
import { certificate, type Certificate } from '../support/tls-gateway.js';

const logger = createLogger({ app: 'test', level: 'silent' });

let folder: string;
let files: { readonly certFile: string; readonly keyFile: string };
let renewed: Certificate;
const sockets: TLSSocket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-reload-'));
  files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  const [first, second] = await Promise.all([certificate('first'), certificate('second')]);
  write(first);
  renewed = second;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  rmSync(folder, { recursive: true });
});

function write({ cert, key }: Certificate): void {
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
}

async function connected(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

const nameAt = async (port: number): Promise<unknown> => (await connected(port)).getPeerCertificate().subject.CN;

describe('a renewed certificate', () => {
  it('is that of new HTTPS connections, and open ones stay', async () => {
    const server = new ApiServer({ mode: 'direct', ...files }, () => 'request');
    const instance: FastifyInstance = server.adapter.getInstance();
    instance.get('/', () => 'here');
    await instance.listen({ host: '127.0.0.1', port: 0 });
    const { port } = instance.server.address() as AddressInfo;
    const reload = server.watchCertificate(logger);
    const open = await connected(port);
    expect(open.getPeerCertificate().subject.CN).toBe('first');
    write(renewed);
    reload.reload();
    expect(await nameAt(port)).toBe('second');
    open.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const [answer] = (await once(open, 'data')) as [Buffer];
    expect(answer.toString()).toContain('200 OK');
    // Half of a renewal: the key does not fit.
    writeFileSync(files.certFile, (await certificate('third')).cert);
    reload.reload();
    expect(await nameAt(port)).toBe('second');
    reload.stop();
    for (const socket of sockets) socket.destroy();
    await instance.close();
  });

  it('is that of new SMPP connections over TLS, and open ones stay', async () => {
    const [smppPort, smppTlsPort] = [await freePort(), await freePort()];
    const settings = { smppHost: '127.0.0.1', smppPort, smppTlsPort, smppTlsClientCaFile: null };
    const ports = new SmppPorts(
      { ...settings, smppTlsCertFile: files.certFile, smppTlsKeyFile: files.keyFile },
      { admitConnection: () => Promise.resolve(true) },
      { begin: () => undefined, complete: () => undefined },
      logger,
    );
    await ports.open((socket) => socket.pipe(socket));
    const open = await connected(smppTlsPort);
    expect(open.getPeerCertificate().subject.CN).toBe('first');
    write(renewed);
    ports.reloadCertificate();
    expect(await nameAt(smppTlsPort)).toBe('second');
    open.write('still here');
    const [echo] = (await once(open, 'data')) as [Buffer];
    expect(echo.toString()).toBe('still here');
    ports.close();
  });
});
