import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { counted, ID, pdu, RESP, tlv, uint8 } from '../../libs/smpp/src/codec/octets.fixture.js';
import { RawPeer, type RawPdu } from '../../libs/smpp/src/link/raw-peer.fixture.js';
import { GatewayHarness, INBOUND_NUMBER, PASSWORD } from '../support/gateway-harness.js';
import { PHONE } from '../support/session-harness.js';
import { certificate, openTlsGateway } from '../support/tls-gateway.js';

const OK = 0;
const HEADER_OCTETS = 16;

let gateway: GatewayHarness;
let ca: string;
const open: RawPeer[] = [];

beforeAll(async () => {
  const server = await certificate('gateway');
  ca = server.cert;
  gateway = await openTlsGateway(server);
  await gateway.system({ systemId: 'raw', maxConnections: 100 });
  await gateway.system({ systemId: 'disabled', enabled: false });
});
afterAll(() => gateway.close());
afterEach(() => {
  for (const esme of open.splice(0)) esme.destroy();
});

async function connected(port = gateway.ports.smpp, trusted?: string): Promise<RawPeer> {
  const esme = await RawPeer.connect(port, trusted);
  open.push(esme);
  return esme;
}

async function bound(version = 0x34): Promise<RawPeer> {
  const esme = await connected();
  expect((await esme.bind('raw', PASSWORD, { version })).status).toBe(OK);
  return esme;
}

const address = (number: string): string => `\x01\x01${number.slice(1)}\0`;
const ADDRESSES = `\0${address(PHONE)}${address(INBOUND_NUMBER)}`;
/** A submit_sm or deliver_sm of this text; `rest` follows short_message. */
const message = (id: number, sequence: number, text: string | Buffer, ...rest: readonly Uint8Array[]): Buffer =>
  pdu(id, sequence, [ADDRESSES, '\0\0\0\0\0\0\0\0\0', counted(text), ...rest]);
const dataMessage = (sequence: number, ...tlvs: readonly Uint8Array[]): Buffer =>
  pdu(ID.data_sm, sequence, [ADDRESSES, '\0\0\0', ...tlvs]);
/** With the octets behind the header in hexadecimal. */
const withBody = ({ octets, ...header }: RawPdu) => {
  return { ...header, body: octets.subarray(HEADER_OCTETS).toString('hex') };
};
const payload = (text: string): Buffer => tlv(0x0424, Buffer.from(text));

describe('NUL octets that no length counts, at the end of a PDU', () => {
  it.each([1, 2, 3])('%i: the message is stored as if they were not there', async (count) => {
    const esme = await bound();
    for (const [sequence, id] of [ID.submit_sm, ID.deliver_sm].entries()) {
      const session = await gateway.create();
      esme.send(message(id, 10 + sequence, gateway.textOf(session), Buffer.alloc(count)));
      expect(await esme.answer(10 + sequence)).toMatchObject({ id: RESP + id, status: OK });
      expect(await gateway.statusOf(session)).toBe('approved');
    }
    const session = await gateway.create();
    esme.send(dataMessage(20, payload(gateway.textOf(session)), Buffer.alloc(count)));
    expect((await esme.answer(20)).status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('are ignored in a bind, an enquire_link and an unbind too', async () => {
    const esme = await connected();
    esme.send(pdu(ID.bind_transceiver, 1, [`raw\0${PASSWORD}\0\0`, uint8(0x34, 0, 0), '\0', '\0']));
    expect((await esme.answer(1)).status).toBe(OK);
    esme.send(pdu(ID.enquire_link, 2, ['\0']), pdu(ID.unbind, 3, ['\0\0']));
    expect(await esme.answer(2)).toMatchObject({ id: RESP + ID.enquire_link, status: OK });
    expect(await esme.answer(3)).toMatchObject({ id: RESP + ID.unbind, status: OK });
  });

  it('another octet in their place is refused with 0xC0', async () => {
    const esme = await bound();
    esme.send(message(ID.submit_sm, 7, 'text', Uint8Array.of(0, 9)));
    expect(await esme.answer(7)).toMatchObject({ id: RESP + ID.submit_sm, status: 0xc0 });
  });
});

describe('a data_sm', () => {
  it('without message_payload is refused with 0xC3, with another TLV in its place too', async () => {
    const esme = await bound();
    esme.send(dataMessage(7), dataMessage(8, tlv(0x0204, Buffer.of(0, 9))));
    for (const sequence of [7, 8]) {
      expect(await esme.answer(sequence)).toMatchObject({ id: RESP + ID.data_sm, status: 0xc3 });
    }
  });

  it('with an empty message_payload is an MO without a text, as a submit_sm of length 0 is', async () => {
    const esme = await bound();
    const before = (await gateway.messages()).length;
    esme.send(dataMessage(7, payload('')), message(ID.submit_sm, 8, ''));
    expect([(await esme.answer(7)).status, (await esme.answer(8)).status]).toEqual([OK, OK]);
    expect((await gateway.messages()).slice(before).map(({ text }) => text)).toEqual(['', '']);
  });
});

describe('a refused bind', () => {
  const NO_SYSTEM_ID = '00';

  it.each([
    ['bind_receiver', 0x1],
    ['bind_transmitter', 0x2],
    ['bind_transceiver', 0x9],
  ])('has an empty system_id in its response to %s', async (_name, id) => {
    const esme = await connected();
    const answer = await esme.bind('disabled', PASSWORD, { id });
    expect(withBody(answer)).toEqual({ id: RESP + id, status: 0x0d, sequence: 1, body: NO_SYSTEM_ID });
    await esme.closed();
  });

  it('has it when the connection is bound already, and when the bind cannot be decoded', async () => {
    const esme = await bound();
    expect(withBody(await esme.bind('raw', PASSWORD))).toMatchObject({ status: 0x05, body: NO_SYSTEM_ID });
    const other = await connected();
    expect(withBody(await other.bind('x'.repeat(16), PASSWORD))).toMatchObject({ status: 0x0f, body: NO_SYSTEM_ID });
    await other.closed();
  });
});

describe('a command that the listener does not offer', () => {
  const id = 'id-1\0';
  const from = address(PHONE);
  const QUERY_BODY = '00000000';

  it.each([
    ['query_sm', 0x3, `${id}${from}`, 0x67, QUERY_BODY],
    ['cancel_sm', 0x8, `\0${id}${from}${address(INBOUND_NUMBER)}`, 0x11, ''],
    ['replace_sm', 0x7, `${id}${from}\0\0\0\0\x02hi`, 0x13, ''],
    ['submit_multi', 0x21, `\0${from}\x01\x01${address(INBOUND_NUMBER)}\0\0\0\0\0\0\0\0\0\x02hi`, 0x03, '0000'],
    ['broadcast_sm', 0x111, `\0${from}${id}\0\0\0\0\0\0`, 0x03, '00'],
    ['query_sm without its address', 0x3, id, 0x02, QUERY_BODY],
    ['cancel_sm with a message id of 65 characters', 0x8, `\0${'1'.repeat(65)}\0`, 0x0c, ''],
    ['replace_sm without a body', 0x7, '', 0x02, ''],
    ['submit_multi without a body', 0x21, '', 0x03, '0000'],
  ])('%s is refused in its own response, and the link stays bound', async (_name, command, body, status, answered) => {
    const esme = await bound();
    esme.send(pdu(command, 7, [body]), pdu(ID.enquire_link, 8));
    expect(withBody(await esme.answer(7))).toEqual({ id: RESP + command, status, sequence: 7, body: answered });
    expect((await esme.answer(8)).status).toBe(OK);
  });
});

describe('a peer that closes its sending side', () => {
  const MESSAGES = 20;
  const sequences = Array.from({ length: MESSAGES }, (_, at) => 100 + at);

  it.each(['without TLS', 'over TLS'])(
    '%s gets the answers to all that it sent, then the connection ends',
    async (how) => {
      const esme = await (how === 'over TLS' ? connected(gateway.ports.smppTls, ca) : connected());
      expect((await esme.bind('raw', PASSWORD)).status).toBe(OK);
      const before = (await gateway.messages()).length;
      esme.send(...sequences.map((sequence) => message(ID.submit_sm, sequence, 'hello')));
      esme.end();
      for (const sequence of sequences) {
        expect(await esme.answer(sequence)).toMatchObject({ id: RESP + ID.submit_sm, status: OK });
      }
      await esme.closed();
      expect((await gateway.messages()).length - before).toBe(MESSAGES);
    },
  );

  it('behind an unbind gets the response to that too', async () => {
    const esme = await bound();
    esme.send(message(ID.submit_sm, 7, 'hello'), pdu(ID.unbind, 8));
    esme.end();
    expect([(await esme.answer(7)).status, (await esme.answer(8)).status]).toEqual([OK, OK]);
    await esme.closed();
  });
});

describe('the interface version', () => {
  const version = (octet: string): string => `${Buffer.from('countersign\0').toString('hex')}02100001${octet}`;

  it.each([
    ['5.0', 0x50, '50', OK],
    ['3.4', 0x34, '34', 0x01],
  ])('of a system at %s is agreed, and with it the longest short_message', async (_name, theirs, agreed, status) => {
    const esme = await connected();
    expect(withBody(await esme.bind('raw', PASSWORD, { version: theirs }))).toMatchObject({
      status: OK,
      body: version(agreed),
    });
    const session = await gateway.create();
    const text = gateway.textOf(session).padEnd(255);
    esme.send(message(ID.submit_sm, 7, text), message(ID.submit_sm, 8, text.slice(0, 254)));
    expect((await esme.answer(7)).status).toBe(status);
    expect((await esme.answer(8)).status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('3.3 is not declared, and takes message ids of 8 octets', async () => {
    const esme = await connected();
    expect(withBody(await esme.bind('raw', PASSWORD, { version: 0x33 })).body).toBe(version('').slice(0, 24));
    esme.send(message(ID.submit_sm, 7, 'hello'));
    expect(withBody(await esme.answer(7)).body).toHaveLength(2 * 9);
  });

  it('5.0 has broadcasts, which are refused in their own response', async () => {
    const esme = await bound(0x50);
    for (const [sequence, id] of [0x111, 0x112, 0x113].entries()) {
      esme.send(pdu(id, 20 + sequence, ['\0']));
      expect(await esme.answer(20 + sequence)).toMatchObject({ id: RESP + id, status: 0x03 });
    }
  });
});
