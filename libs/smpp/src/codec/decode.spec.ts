import { describe, expect, it } from 'vitest';
import { LIMITS_OF_50, decodePdu } from './decode.js';
import type { StatusName } from '../pdu/dictionary.js';
import { statusName } from '../pdu/dictionary.js';
import {
  ID,
  MESSAGE_PARTS,
  RESP,
  TEXT,
  bind,
  counted,
  cstring,
  dataMessage,
  message,
  pdu,
  tlv,
  uint8,
} from './octets.fixture.js';

const statusOf = (octets: Buffer): string => {
  const decoded = decodePdu(octets);
  return decoded.command === 'malformed' ? statusName(decoded.status) : 'read';
};
const withNul = (octets: Buffer): Buffer => {
  const longer = Buffer.concat([octets, uint8(0)]);
  longer.writeUInt32BE(longer.length, 0);
  return longer;
};
const long = (octets: number): Buffer => cstring('1'.repeat(octets));
const address = (octets: number): Buffer => Buffer.concat([uint8(1, 1), long(octets)]);

describe('a malformed field is answered by the status of that field', () => {
  const cases: readonly (readonly [string, StatusName, Buffer])[] = [
    ['a source address of 21 characters', 'ESME_RINVSRCADR', message({ source: address(21) })],
    ['a destination address of 21 characters', 'ESME_RINVDSTADR', message({ destination: address(21) })],
    ['a source address of 300 characters', 'ESME_RINVSRCADR', message({ source: address(300) })],
    ['a service type of 6 characters', 'ESME_RINVSERTYP', message({ serviceType: long(6) })],
    ['an esm_class of a reserved message type', 'ESME_RINVESMCLASS', message({ esmClass: uint8(0x0c) })],
    ['a schedule of 5 characters', 'ESME_RINVSCHED', message({ schedule: cstring('5R'.padStart(5)) })],
    ['a schedule of 17 characters', 'ESME_RINVSCHED', message({ schedule: long(17) })],
    ['a validity that is not a time', 'ESME_RINVEXPIRY', message({ validity: cstring('tomorrow at noon') })],
    ['a validity of 15 characters', 'ESME_RINVEXPIRY', message({ validity: cstring('00000000050000R') })],
    ['a text longer than its PDU', 'ESME_RINVMSGLEN', message({ text: uint8(255, 65) })],
    ['a text of 255 octets in SMPP 3.4', 'ESME_RINVMSGLEN', message({ text: counted('x'.repeat(255)) })],
    ['both short_message and message_payload', 'ESME_RTLVNOTALLWD', message({}, [tlv(0x0424, Buffer.from('twice'))])],
    ['an integer TLV of 1 octet in place of 2', 'ESME_RINVTLVLEN', message({}, [tlv(0x020c, uint8(1))])],
    ['an integer TLV of 3 octets in place of 1', 'ESME_RINVTLVLEN', message({}, [tlv(0x020e, uint8(1, 2, 3))])],
    ['an alert of two octets', 'ESME_RINVTLVLEN', message({}, [tlv(0x130c, uint8(1, 2))])],
    ['a message id TLV of 300 octets', 'ESME_RINVTLVLEN', message({}, [tlv(0x001e, Buffer.alloc(300, 65))])],
    ['a TLV that runs past the PDU', 'ESME_RINVTLVSTREAM', message({}, [tlv(0x1400, uint8(1), 200)])],
    ['half a TLV header at the end', 'ESME_RINVTLVSTREAM', message({}, [uint8(4, 0x24, 0)])],
    ['an octet after a NUL at the end', 'ESME_RINVTLVSTREAM', message({}, [uint8(0, 9)])],
    [
      '300 TLVs',
      'ESME_RINVTLVSTREAM',
      message(
        {},
        Array.from({ length: 300 }, () => tlv(0x1400, uint8())),
      ),
    ],
    ['a PDU that ends in its source address', 'ESME_RINVCMDLEN', pdu(4, 7, [uint8(0, 1, 1, 49, 53)])],
    ['a PDU that ends before its text', 'ESME_RINVCMDLEN', pdu(4, 7, Object.values(MESSAGE_PARTS).slice(0, -1))],
    ['a submit_sm without a body', 'ESME_RINVCMDLEN', pdu(ID.submit_sm, 7)],
    ['a system_id of 16 characters', 'ESME_RINVSYSID', bind(9, { systemId: 'x'.repeat(16) })],
    ['a password of 9 characters', 'ESME_RINVPASWD', bind(9, { password: 'x'.repeat(9) })],
    ['a system_type of 13 characters', 'ESME_RINVSYSTYP', bind(9, { systemType: 'x'.repeat(13) })],
    ['an address_range of 41 characters', 'ESME_RBINDFAIL', bind(9, { addressRange: 'x'.repeat(41) })],
    ['a data_sm without message_payload', 'ESME_RMISSINGTLV', dataMessage([tlv(0x0204, uint8(0, 9))])],
    ['an unknown command_id', 'ESME_RINVCMDID', pdu(0x777, 7)],
    ['an unsupported command', 'ESME_RINVCMDID', pdu(ID.submit_multi, 7)],
    ['a query_sm without a body', 'ESME_RINVCMDLEN', pdu(ID.query_sm, 7)],
    ['a cancel_sm with a message id of 65', 'ESME_RINVMSGID', pdu(ID.cancel_sm, 7, [uint8(0), long(65)])],
  ];
  it.each(cases)('%s: %s', (_what, status, octets) => {
    expect(statusOf(octets)).toBe(status);
    const decoded = decodePdu(octets);
    expect(decoded.sequence).toBe(octets.readUInt32BE(12));
  });
});

describe('values at their limits are valid', () => {
  const cases: readonly (readonly [string, Buffer])[] = [
    ['addresses of 20 characters', message({ source: address(20), destination: address(20) })],
    [
      'data_sm addresses of 64 characters',
      pdu(ID.data_sm, 7, [uint8(0), address(64), address(64), uint8(0, 0, 0), tlv(0x0424, uint8(65))]),
    ],
    ['a text of 254 octets', message({ text: counted('x'.repeat(254)) })],
    ['no text', message({ text: uint8(0) })],
    ['a message_payload of 64 KiB', message({ text: uint8(0) }, [tlv(0x0424, Buffer.alloc(65_535, 65))])],
    ['an empty message_payload beside a text', message({}, [tlv(0x0424, uint8())])],
    ['data_sm with an empty message_payload', dataMessage([tlv(0x0424, uint8())])],
    ['an alert without a value, as in 3.4', message({}, [tlv(0x130c, uint8())])],
    ['an alert with a value, as in 5.0', message({}, [tlv(0x130c, uint8(1))])],
    ['a source_telematics_id of one octet', message({}, [tlv(0x0010, uint8(1))])],
    ['a source_telematics_id of two, as npm smpp writes it', message({}, [tlv(0x0010, uint8(0, 1))])],
    ['a country of three octets', message({}, [tlv(0x0613, Buffer.from('049'))])],
    ['an ms_validity of four octets, as in 5.0', message({}, [tlv(0x1204, uint8(0, 1, 0, 5))])],
    ['a relative validity', message({ validity: cstring('000000000500000R') })],
    ['an absolute validity', message({ validity: cstring('260131235959900+') })],
    ['an unknown TLV', message({}, [tlv(0x1400, Buffer.from('vendor'))])],
    ['a known TLV of another command', message({}, [tlv(0x0210, uint8(0x34))])],
    ['a system_id of 15 and a password of 8', bind(9, { systemId: 'x'.repeat(15), password: 'y'.repeat(8) })],
    ...[1, 2, 3].map((count) => [`${count} NUL after the text`, message({}, [Buffer.alloc(count)])] as const),
    ['a NUL after the last TLV', message({}, [tlv(0x0204, uint8(0, 9)), uint8(0)])],
    ['a NUL after a bind', withNul(bind())],
    ['a NUL after a header', pdu(ID.enquire_link, 7, [uint8(0)])],
    ['a sequence number of 0', pdu(ID.enquire_link, 0)],
    ['a response without a body', pdu(RESP + ID.submit_sm, 7)],
    ['an error response with a malformed body', pdu(RESP + ID.submit_sm, 7, [Buffer.alloc(90, 65)], 0x58)],
  ];
  it.each(cases)('%s', (_what, octets) => {
    expect(statusOf(octets)).toBe('read');
  });

  it('decodes 255 octets of text in SMPP 5.0', () => {
    const octets = message({ text: counted('x'.repeat(255)) });
    expect(decodePdu(octets, 0, octets.length, LIMITS_OF_50).command).toBe('submit_sm');
  });
});

describe('a decoded PDU', () => {
  it('keeps every field, the raw octets of the text and every TLV in order', () => {
    const text = uint8(0x1b, 0x65, 0x00, 0xff, 0x80);
    const tlvs = [tlv(0x1400, uint8(1)), tlv(0x0204, uint8(0, 9)), tlv(0x1400, uint8(2))];
    const decoded = decodePdu(message({ text: counted(text), dataCoding: uint8(8) }, tlvs, ID.deliver_sm));
    if (decoded.command !== 'deliver_sm') throw new Error(decoded.command);
    expect(decoded.fields).toMatchObject({
      sourceAddress: { ton: 1, npi: 1, value: '15551230001' },
      destinationAddress: { ton: 1, npi: 1, value: '15559870002' },
      dataCoding: 8,
    });
    expect(decoded.fields.shortMessage.equals(text)).toBe(true);
    expect(decoded.tlvs.map((t) => [t.tag, t.value.toString('hex')])).toEqual([
      [0x1400, '01'],
      [0x0204, '0009'],
      [0x1400, '02'],
    ]);
  });

  it('keeps the eighth bit of an alphanumeric sender', () => {
    const decoded = decodePdu(message({ source: Buffer.concat([uint8(5, 0), cstring('Café')]) }));
    expect(decoded.command === 'submit_sm' && decoded.fields.sourceAddress.value).toBe('Café');
  });

  it('has no trace of NUL octets at the end of its body', () => {
    const tlvs = [tlv(0x1400, uint8(0))];
    expect(decodePdu(message({}, [...tlvs, uint8(0, 0, 0)]))).toEqual(decodePdu(message({}, tlvs)));
  });

  it('is read at its offset in a larger buffer', () => {
    const whole = Buffer.concat([uint8(1, 2, 3), message(), uint8(9)]);
    const decoded = decodePdu(whole, 3, whole.length - 1);
    expect(decoded.command === 'submit_sm' && decoded.fields.shortMessage.toString()).toBe(TEXT);
  });

  it('a malformed response keeps its command name, and is never answered', () => {
    const decoded = decodePdu(pdu(RESP + ID.submit_sm, 7, [Buffer.alloc(80, 65)]));
    expect(decoded).toMatchObject({ command: 'malformed', of: 'submit_sm_resp', commandId: RESP + ID.submit_sm });
  });
});
