import { once } from 'node:events';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { certificate, openTlsGateway } from '../support/tls-gateway.js';

describe('A22 TLS sessions of systems with certificates', () => {
  const closed = (socket: tls.TLSSocket): Promise<unknown> =>
    socket.closed ? Promise.resolve() : new Promise((resolve) => socket.resume().once('close', resolve));

  it.each(['TLSv1.3', 'TLSv1.2'] as const)(
    'A22 are not resumed in %s: a ticket without the certificate and its key is refused',
    async (maxVersion) => {
      const [server, client] = [await certificate('server'), await certificate('northco')];
      const gateway = await openTlsGateway(server, [client]);
      await gateway.system({ systemId: 'northco', allowedCidrs: [], tlsRequired: true });
      const port = gateway.ports.smppTls;
      const open = (more: tls.ConnectionOptions): tls.TLSSocket =>
        tls.connect({ port, host: '127.0.0.1', ca: server.cert, maxVersion, ...more }).on('error', () => undefined);
      try {
        const first = open(client);
        const sessions: Buffer[] = [];
        first.on('session', (session: Buffer) => sessions.push(session));
        await once(first, 'secureConnect');
        const [session] = [first.getSession(), ...sessions].reverse();
        // The end of the connection: with TLS 1.3 tickets come after the handshake, and a refused certificate too.
        first.end();
        await closed(first);
        const [latest] = [session, ...sessions].reverse();
        const resumed = open(latest === undefined ? {} : { session: latest });
        const wasResumed = new Promise<boolean>((resolve) => {
          resumed.once('secureConnect', () => resolve(resumed.isSessionReused()));
          resumed.once('close', () => resolve(false));
        });
        expect(await wasResumed).toBe(false);
        await closed(resumed);
        const again = open(client);
        await once(again, 'secureConnect');
        again.destroy();
      } finally {
        await gateway.close();
      }
    },
  );
});
