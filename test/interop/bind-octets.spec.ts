import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { BindType } from '@countersign/carriers/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayHarness, INBOUND_NUMBER } from '../support/gateway-harness.js';
import { RawPeer, rawPdu } from '../support/raw-peer.js';
import { PHONE } from '../support/session-harness.js';

const OK = 0;
const RESP = 0x8000_0000;
const BIND_RECEIVER = 0x1;
const BIND_TRANSMITTER = 0x2;
const BIND_TRANSCEIVER = 0x9;
const DELIVER_SM = 0x5;
const ENQUIRE_LINK = 0x15;
const ALERT_NOTIFICATION = 0x102;

let gateway: GatewayHarness;
const open: { readonly server: Server; readonly smsc: RawPeer }[] = [];

beforeAll(async () => {
  gateway = await GatewayHarness.open();
});
afterAll(async () => {
  for (const { server, smsc } of open) {
    smsc.destroy();
    server.close();
  }
  await gateway.close();
});

/** A carrier without an SMPP stack, to which the gateway binds; its response is of the command `answeredBy`. */
async function boundTo(bindType: BindType, request: number, answeredBy = request): Promise<RawPeer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection');
  await gateway.bind({ name: `octets-${bindType}`, bindType, hosts: [{ host: '127.0.0.1', port }] });
  const [socket] = (await connected) as [Socket];
  const smsc = new RawPeer(socket);
  open.push({ server, smsc });
  const { sequence } = await smsc.request(request);
  smsc.send(rawPdu(RESP + answeredBy, sequence, 'smsc\0'));
  return smsc;
}

describe('a carrier', () => {
  it('can send an alert_notification: it is counted, and gets no answer', async () => {
    const smsc = await boundTo('transceiver', BIND_TRANSCEIVER);
    const counter = 'countersign_smpp_pdus_total{side="bind",direction="in",command="alert_notification"';
    const before = await gateway.metric(counter);
    const alert = '\x01\x0114155550111\0\x01\x0114155550100\0';
    smsc.send(rawPdu(ALERT_NOTIFICATION, 70, alert), rawPdu(ENQUIRE_LINK, 71));
    expect(await smsc.answer(71)).toMatchObject({ id: RESP + ENQUIRE_LINK, status: OK });
    expect(smsc.unread.filter(({ sequence }) => sequence === 70)).toEqual([]);
    expect(await gateway.metric(counter)).toBe(before + 1);
  });

  it('can answer a bind_receiver with bind_transmitter_resp, as OsmoMSC 1.9 does: its messages are taken', async () => {
    const smsc = await boundTo('receiver', BIND_RECEIVER, BIND_TRANSMITTER);
    const session = await gateway.create();
    const text = gateway.textOf(session);
    const addresses = `\0\x01\x01${PHONE.slice(1)}\0\x01\x01${INBOUND_NUMBER.slice(1)}\0`;
    smsc.send(rawPdu(DELIVER_SM, 70, addresses, '\0\0\0\0\0\0\0\0\0', Uint8Array.of(text.length), text));
    expect(await smsc.answer(70)).toMatchObject({ id: RESP + DELIVER_SM, status: OK });
    expect(await gateway.statusOf(session)).toBe('approved');
  });
});
