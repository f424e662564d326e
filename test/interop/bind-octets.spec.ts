import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { BindType } from '@countersign/carriers/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { counted, ID, pdu, RESP } from '../../libs/smpp/src/codec/octets.fixture.js';
import { RawPeer } from '../../libs/smpp/src/link/raw-peer.fixture.js';
import { GatewayHarness, INBOUND_NUMBER } from '../support/gateway-harness.js';
import { PHONE } from '../support/session-harness.js';

const OK = 0;

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
  smsc.send(pdu(RESP + answeredBy, sequence, ['smsc\0']));
  return smsc;
}

describe('a carrier', () => {
  it('can send an alert_notification: it is counted, and gets no answer', async () => {
    const smsc = await boundTo('transceiver', ID.bind_transceiver);
    const counter = 'countersign_smpp_pdus_total{side="bind",direction="in",command="alert_notification"';
    const before = await gateway.metric(counter);
    const alert = '\x01\x0114155550111\0\x01\x0114155550100\0';
    smsc.send(pdu(ID.alert_notification, 70, [alert]), pdu(ID.enquire_link, 71));
    expect(await smsc.answer(71)).toMatchObject({ id: RESP + ID.enquire_link, status: OK });
    expect(smsc.unread.filter(({ sequence }) => sequence === 70)).toEqual([]);
    expect(await gateway.metric(counter)).toBe(before + 1);
  });

  it('can answer a bind_receiver with bind_transmitter_resp, as OsmoMSC 1.9 does: its messages are taken', async () => {
    const smsc = await boundTo('receiver', ID.bind_receiver, ID.bind_transmitter);
    const session = await gateway.create();
    const text = gateway.textOf(session);
    const addresses = `\0\x01\x01${PHONE.slice(1)}\0\x01\x01${INBOUND_NUMBER.slice(1)}\0`;
    smsc.send(pdu(ID.deliver_sm, 70, [addresses, '\0\0\0\0\0\0\0\0\0', counted(text)]));
    expect(await smsc.answer(70)).toMatchObject({ id: RESP + ID.deliver_sm, status: OK });
    expect(await gateway.statusOf(session)).toBe('approved');
  });
});
