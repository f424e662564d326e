import {
  ID,
  MESSAGE_PARTS,
  RESP,
  bind,
  counted,
  cstring,
  dataMessage,
  enquireLink,
  message,
  pdu,
  tlv,
  uint8,
} from '../codec/octets.fixture.js';

/** `alive`: the link answers a later enquire_link. `closed`: the link has closed. There is no third outcome. */
export type Outcome = 'alive' | 'closed';
export interface HostileCase {
  readonly name: string;
  readonly on: 'bound' | 'unbound';
  readonly octets: readonly Uint8Array[];
  readonly outcome: Outcome;
}

const length = (claimed: number, rest: Uint8Array = Buffer.alloc(12)): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(claimed, 0);
  return Buffer.concat([head, rest]);
};
const changed = (octets: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(octets);
  copy[at] = value;
  return copy;
};
const relength = (octets: Buffer, claimed: number): Buffer => length(claimed, octets.subarray(4));
const text = (line: string): Buffer => Buffer.from(line, 'latin1');
const many = (count: number, make: (i: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(i)));

const bound = (name: string, outcome: Outcome, ...octets: Uint8Array[]): HostileCase => ({
  name,
  on: 'bound',
  octets,
  outcome,
});
const unbound = (name: string, outcome: Outcome, ...octets: Uint8Array[]): HostileCase => ({
  name: `before the bind: ${name}`,
  on: 'unbound',
  octets,
  outcome,
});

const framing: readonly HostileCase[] = [
  ...[0, 1, 3, 4, 8, 12, 15].map((claimed) => bound(`command_length ${claimed}`, 'closed', length(claimed))),
  ...[70_001, 0x0100_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff].map((claimed) =>
    bound(`command_length ${claimed}`, 'closed', length(claimed)),
  ),
  bound('a legal PDU of more than 16384 octets', 'alive', message({}, [tlv(0x1400, Buffer.alloc(16_400))])),
  bound('command_length one short of the PDU', 'closed', relength(message(), message().length - 1)),
  bound('command_length one beyond the PDU, never completed', 'closed', relength(message(), 4_000)),
  bound('one octet, then silence', 'closed', uint8(0)),
  bound('three octets of a header, then silence', 'closed', uint8(0, 0, 0)),
  bound('half a header, then silence', 'closed', message().subarray(0, 8)),
  bound('half a body, then silence', 'closed', message().subarray(0, 40)),
  bound('an HTTP request', 'closed', text('GET / HTTP/1.1\r\nHost: x\r\n\r\n')),
  bound(
    'a TLS client hello',
    'closed',
    uint8(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0, 1, 0xfc, 3, 3),
    Buffer.alloc(40, 7),
  ),
  bound('a kilobyte of zeros', 'closed', Buffer.alloc(1_024)),
  bound('a kilobyte of 0xFF', 'closed', Buffer.alloc(1_024, 0xff)),
];

const commands: readonly HostileCase[] = [
  bound('an unknown command', 'alive', pdu(0x0000_0777, 7)),
  bound('an unknown command with a body', 'alive', pdu(0x0001_0000, 7, [Buffer.alloc(300, 0xaa)])),
  bound('an unknown response', 'alive', pdu(0x8000_0777, 7)),
  bound('a response without a request', 'alive', pdu(RESP + ID.submit_sm, 99, [cstring('x')])),
  bound('a malformed response without a request', 'alive', pdu(RESP + ID.submit_sm, 99, [Buffer.alloc(80, 65)])),
  bound('a generic_nack without a request', 'alive', pdu(ID.generic_nack, 99, [], 3)),
  bound('a generic_nack with a body', 'alive', pdu(ID.generic_nack, 0, [Buffer.alloc(50)], 3)),
  bound('a bind response', 'alive', pdu(RESP + ID.bind_transceiver, 1, [cstring('x')])),
  bound('an unbind response', 'alive', pdu(RESP + ID.unbind, 1)),
  bound('a second bind', 'alive', bind()),
  bound('outbind towards an SMSC', 'alive', pdu(ID.outbind, 7, [cstring('a'), cstring('b')])),
  bound('alert_notification', 'alive', pdu(ID.alert_notification, 7, [uint8(1, 1, 0, 1, 1, 0)])),
  bound('query_sm', 'alive', pdu(ID.query_sm, 7, [cstring('1'), uint8(0, 0, 0)])),
  bound('a query_sm cut in its address', 'alive', pdu(ID.query_sm, 7, [cstring('1'), uint8(0)])),
  bound('a cancel_sm without a NUL', 'alive', pdu(ID.cancel_sm, 7, [Buffer.alloc(90, 65)])),
  bound('a replace_sm without a body', 'alive', pdu(ID.replace_sm, 7)),
  bound('a replace_sm whose text overruns it', 'alive', pdu(ID.replace_sm, 7, [Buffer.alloc(8), uint8(200, 65)])),
  bound('a broadcast_sm', 'alive', pdu(ID.broadcast_sm, 7, [Buffer.alloc(40)])),
  bound('an alert_notification without a body', 'alive', pdu(ID.alert_notification, 7)),
  bound('submit_multi of 255 destinations and no octets', 'alive', pdu(ID.submit_multi, 7, [uint8(0, 0, 0, 0, 255)])),
  bound('an enquire_link with a body', 'alive', pdu(ID.enquire_link, 7, [Buffer.alloc(33, 1)])),
  bound('an unbind with a malformed body', 'alive', pdu(ID.unbind, 7, [uint8(1, 2, 3)])),
  bound('an unbind', 'closed', pdu(ID.unbind, 7)),
  bound('a sequence number of 0', 'alive', message({}, [], ID.submit_sm, 0)),
  bound('a sequence number of 0xFFFFFFFF', 'alive', message({}, [], ID.submit_sm, 0xffff_ffff)),
  bound('a request with a status', 'alive', changed(message(), 11, 0x58)),
];

const fields: readonly HostileCase[] = [
  bound(
    'an address of 300 digits',
    'alive',
    message({ source: Buffer.concat([uint8(1, 1), cstring('1'.repeat(300))]) }),
  ),
  bound('no NUL anywhere', 'alive', pdu(ID.submit_sm, 7, [Buffer.alloc(200, 0x31)])),
  bound(
    'a text length of 255 in front of 3 octets',
    'alive',
    message({ text: Buffer.concat([uint8(255), text('abc')]) }),
  ),
  bound('a body of one octet', 'alive', pdu(ID.submit_sm, 7, [uint8(0)])),
  bound('no body', 'alive', pdu(ID.deliver_sm, 7)),
  ...[17, 20, 24, 33, 45, 50].map((end) =>
    bound(`a PDU cut at octet ${end}`, 'alive', relength(message().subarray(0, end), end)),
  ),
  bound('a validity of "5R"', 'alive', message({ validity: cstring('5R') })),
  bound('a reserved esm_class', 'alive', message({ esmClass: uint8(0xff) })),
  bound(
    'a user data header longer than its text',
    'alive',
    message({ esmClass: uint8(0x40), text: counted(uint8(200, 0, 3, 1)) }),
  ),
  bound('a user data header of zeros', 'alive', message({ esmClass: uint8(0x40), text: counted(Buffer.alloc(20)) })),
  bound(
    'a user data header whose elements overrun it',
    'alive',
    message({ esmClass: uint8(0x40), text: counted(uint8(3, 0, 250, 1)) }),
  ),
  bound(
    'octets above 0x7F in every string',
    'alive',
    message({ serviceType: cstring('\xff\xfe'), source: Buffer.concat([uint8(5, 0), cstring('\xe9\xff')]) }),
  ),
  bound('a UCS-2 text of odd length', 'alive', message({ dataCoding: uint8(8), text: counted(uint8(0, 65, 0)) })),
  bound('short_message and message_payload together', 'alive', message({}, [tlv(0x0424, text('again'))])),
];

const tlvs: readonly HostileCase[] = [
  bound('an integer TLV one octet short at the end', 'alive', message({}, [tlv(0x020c, uint8(1))])),
  bound(
    'an integer TLV one octet short that would swallow the next tag',
    'alive',
    message({}, [tlv(0x020c, uint8(1)), tlv(0x020e, uint8(2))]),
  ),
  bound('a TLV that claims 65535 octets', 'alive', message({}, [tlv(0x0424, uint8(1), 65_535)])),
  ...[1, 2, 3, 4, 5].map((count) => bound(`${count} NUL after a text`, 'alive', message({}, [Buffer.alloc(count)]))),
  bound('a NUL and another octet after a text', 'alive', message({}, [uint8(0, 9)])),
  bound('a NUL after the last TLV', 'alive', message({}, [tlv(0x0204, uint8(0, 1)), uint8(0)])),
  bound('a NUL after an enquire_link', 'alive', pdu(ID.enquire_link, 7, [uint8(0)])),
  bound('one octet after the last TLV', 'alive', message({}, [tlv(0x0204, uint8(0, 1)), uint8(9)])),
  bound(
    'a message id TLV without its NUL, followed by another TLV',
    'alive',
    message({}, [tlv(0x001e, text('ABC123')), tlv(0x0427, uint8(2))]),
  ),
  bound(
    'empty callback_num and billing TLVs',
    'alive',
    message({}, [tlv(0x0381, uint8()), tlv(0x060b, uint8()), tlv(0x0601, uint8())]),
  ),
  bound('five thousand TLVs', 'alive', message({}, [many(5_000, () => tlv(0x1400, uint8(1)))])),
  bound(
    'the same TLV ten times',
    'alive',
    message(
      {},
      Array.from({ length: 10 }, () => tlv(0x0204, uint8(0, 1))),
    ),
  ),
  bound('data_sm with a payload of 64 KiB', 'alive', dataMessage([tlv(0x0424, Buffer.alloc(65_000, 0x41))])),
];

const floods: readonly HostileCase[] = [
  bound(
    'two thousand enquire_links in one write',
    'alive',
    many(2_000, (i) => enquireLink(i + 100_000)),
  ),
  bound(
    'two thousand messages in one write',
    'alive',
    many(2_000, (i) => message({}, [], ID.submit_sm, i + 100_000)),
  ),
  bound(
    'two thousand malformed messages in one write',
    'alive',
    many(2_000, () => message({ text: uint8(255) })),
  ),
  bound(
    'the same sequence number a hundred times',
    'alive',
    many(100, () => message()),
  ),
];

const strangers: readonly HostileCase[] = [
  unbound('a message', 'alive', message()),
  unbound('an unbind', 'alive', pdu(ID.unbind, 7)),
  unbound('query_sm', 'alive', pdu(ID.query_sm, 7, [uint8(0)])),
  unbound('an unknown command', 'alive', pdu(0x777, 7)),
  unbound('a PDU of 1001 octets', 'closed', length(1_001, Buffer.alloc(997))),
  unbound('a bind with a system_id of 16', 'closed', bind(ID.bind_transceiver, { systemId: 'x'.repeat(16) })),
  unbound('a bind without a body', 'closed', pdu(ID.bind_transceiver, 1)),
  unbound('a bind without any NUL', 'closed', pdu(ID.bind_receiver, 1, [Buffer.alloc(100, 65)])),
  unbound('two binds in one write', 'alive', bind(), bind(ID.bind_receiver, {}, 2)),
  unbound('a bind and a message in one write', 'alive', bind(), message()),
  unbound('SSH', 'closed', text('SSH-2.0-OpenSSH_9.2\r\n')),
  unbound('a header of zeros only', 'closed', Buffer.alloc(16)),
  unbound('half a bind, then silence', 'closed', bind().subarray(0, 20)),
  unbound(
    'a bind with a malformed second field',
    'closed',
    pdu(ID.bind_transmitter, 1, [cstring('a'), MESSAGE_PARTS.text]),
  ),
];

export const HOSTILE_CORPUS: readonly HostileCase[] = [
  ...framing,
  ...commands,
  ...fields,
  ...tlvs,
  ...floods,
  ...strangers,
];
