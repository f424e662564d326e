import net from 'node:net';
import tls from 'node:tls';
import { bindClientKey } from '@countersign/carriers/config';
import { BINDS } from '@countersign/carriers/records';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { certificate, type Certificate } from '../support/tls-gateway.js';
import { until } from '../support/until.js';

// A carrier behind a TLS server that demands a client certificate.

const WITHIN_MS = 20_000;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let gateway: GatewayBeside;
let carrier: Carrier;
let server: tls.Server;
let ours: Certificate;
let other: Certificate;
let caCertificate: string;
/** The subjects of the certificates that were presented. */
const presented: string[] = [];
const sockets: net.Socket[] = [];

beforeAll(async () => {
  const smsc = await certificate('smsc');
  [ours, other, caCertificate] = [await certificate('us'), await certificate('other'), smsc.cert];
  carrier = new Carrier('north');
  const carrierPort = await carrier.listen();
  server = tls.createServer({ ...smsc, ca: ours.cert, requestCert: true, rejectUnauthorized: true }, (socket) => {
    presented.push(String(socket.getPeerCertificate().subject.CN));
    const inner = net.connect(carrierPort, '127.0.0.1');
    sockets.push(socket, inner);
    for (const each of [socket, inner]) each.on('error', () => undefined);
    socket.pipe(inner).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  gateway = await GatewayBeside.start(harness);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await carrier.close();
  await harness.close();
});

const portOf = (): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address.port;
};
const tlsWith = (more: object) => ({ enabled: true, caCertificate, ...more });
let made = 0;
const draft = (more: object) => ({
  name: `certified ${(made += 1)}`,
  host: '127.0.0.1',
  port: portOf(),
  systemId: 'us',
  password: 'secret08',
  tls: tlsWith(more),
});
async function storedKeyOf(id: string): Promise<string | null> {
  const row = await BINDS.find(harness.database, parseId('bind', id) ?? '');
  if (row === null) throw new Error(`there is no ${id}`);
  return bindClientKey(harness.keys, row);
}

describe('the client certificate of a bind', () => {
  it('binds to a carrier that demands it; its key is sealed and shown nowhere', async () => {
    const body = draft({ clientCertificate: ours.cert, clientKey: ours.key });
    const answer = await admin.post('binds', body);
    expect([answer.status, answer.json['tls']]).toEqual([201, tlsWith({ clientCertificate: ours.cert })]);
    await until('it is bound', WITHIN_MS, () => carrier.isBound);
    expect(presented).toEqual(['us']);
    const id = idOf(answer);
    expect(await storedKeyOf(id)).toBe(ours.key);
    const [note] = await admin.notes(id);
    expect(note?.after).toMatchObject({ clientKey: '[set]', password: '[set]' });
    const line = ours.key.split('\n')[1] ?? '';
    const [row] = await harness.database.query<{ row: string }>('SELECT binds::text AS row FROM binds WHERE id = $1', [
      parseId('bind', id),
    ]);
    const seen = [answer.text, (await admin.get(`binds/${id}`)).text, await admin.log(), row?.row ?? ''];
    for (const text of [...seen, gateway.log.join('\n'), harness.log.join('\n')]) expect(text).not.toContain(line);
    expect((await admin.patch(`binds/${id}`, { enabled: false })).status).toBe(200);
  });

  it('keeps its key while it stays, and loses it with the certificate', async () => {
    const disabled = { ...draft({ clientCertificate: ours.cert, clientKey: ours.key }), enabled: false };
    const id = idOf(await admin.post('binds', disabled));
    const change = async (more: object): Promise<readonly unknown[]> => {
      const answer = await admin.patch(`binds/${id}`, { tls: tlsWith(more) });
      return [answer.status, answer.field, await storedKeyOf(id)];
    };
    expect(await change({ clientCertificate: ours.cert, serverName: 'a.example' })).toEqual([200, undefined, ours.key]);
    expect(await change({ clientCertificate: other.cert })).toEqual([422, 'tls.clientKey', ours.key]);
    expect(await change({ clientCertificate: other.cert, clientKey: ours.key })).toEqual([
      422,
      'tls.clientKey',
      ours.key,
    ]);
    expect(await change({ clientKey: ours.key })).toEqual([422, 'tls.clientCertificate', ours.key]);
    expect(await change({ clientCertificate: other.cert, clientKey: other.key })).toEqual([200, undefined, other.key]);
    expect(await change({})).toEqual([200, undefined, null]);
  });

  it('belongs to the fields that an operator may not change without the password', async () => {
    const disabled = { ...draft({}), enabled: false };
    const id = idOf(await admin.post('binds', disabled));
    const operator = await admin.colleague('operator');
    const change = { tls: tlsWith({ clientCertificate: ours.cert, clientKey: ours.key }) };
    const refused = await operator.patch(`binds/${id}`, change);
    expect([refused.status, refused.field]).toEqual([403, 'tls']);
    expect((await operator.patch(`binds/${id}`, { ...change, password: 'secret08' })).status).toBe(200);
  });
});
