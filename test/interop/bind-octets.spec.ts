import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayHarness } from '../support/gateway-harness.js';
import { RawPeer, rawPdu } from '../support/raw-peer.js';

const OK = 0;
const RESP = 0x8000_0000;
const BIND_TRANSCEIVER = 0x9;
const ENQUIRE_LINK = 0x15;
const ALERT_NOTIFICATION = 0x102;

let gateway: GatewayHarness;
let server: Server;
let smsc: RawPeer;

/** A carrier without an SMPP stack, to which the gateway has bound. */
beforeAll(async () => {
  gateway = await GatewayHarness.open();
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection');
  await gateway.bind({ name: 'octets', hosts: [{ host: '127.0.0.1', port }] });
  const [socket] = (await connected) as [Socket];
  smsc = new RawPeer(socket);
  const { sequence } = await smsc.request(BIND_TRANSCEIVER);
  smsc.send(rawPdu(RESP + BIND_TRANSCEIVER, sequence, 'smsc\0'));
});
afterAll(async () => {
  smsc.destroy();
  server.close();
  await gateway.close();
});

describe('a carrier', () => {
  it('can send an alert_notification: it is counted, and gets no answer', async () => {
    const counter = 'countersign_smpp_pdus_total{side="bind",direction="in",command="alert_notification"';
    const before = await gateway.metric(counter);
    const alert = '\x01\x0114155550111\0\x01\x0114155550100\0';
    smsc.send(rawPdu(ALERT_NOTIFICATION, 70, alert), rawPdu(ENQUIRE_LINK, 71));
    expect(await smsc.answer(71)).toMatchObject({ id: RESP + ENQUIRE_LINK, status: OK });
    expect(smsc.unread.filter(({ sequence }) => sequence === 70)).toEqual([]);
    expect(await gateway.metric(counter)).toBe(before + 1);
  });
});
