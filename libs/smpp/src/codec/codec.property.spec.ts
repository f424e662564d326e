import fc from 'fast-check';
import smpp from 'smpp';
import { describe, expect, it } from 'vitest';
import { decodePdu } from './decode.js';
import { InvalidPduError, encodePdu } from './encode.js';
import { bind, dataMessage, message, tlv, uint8 } from './octets.fixture.js';
import { dataSm, deliverSm, submitSm } from '../pdu/pdu.js';
import type { BindFields, MessageFields, Pdu } from '../pdu/pdu.js';
import { integerTlv, octetsTlv, textTlv } from '../pdu/tlv.js';
import type { Tlv } from '../pdu/tlv.js';

const uint8s = fc.integer({ min: 0, max: 255 });
const text = (maxLength: number) =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength }).map((codes) => String.fromCharCode(...codes));
const ascii = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('0', '1', '9', 'A', 'Z', 'a', 'z', '+', '-', ' '), maxLength });
const address = (value: fc.Arbitrary<string>) => fc.record({ ton: uint8s, npi: uint8s, value });
const time = fc.constantFrom('', '000000000500000R', '260131235959900+');
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const sequence = fc.integer({ min: 1, max: 0x7fff_ffff });

const messageFields = (value: fc.Arbitrary<string>): fc.Arbitrary<MessageFields> =>
  fc.record({
    serviceType: ascii(5),
    sourceAddress: address(value),
    destinationAddress: address(value),
    esmClass: fc.constantFrom(0, 0x04, 0x40, 0x43, 0x80),
    protocolId: uint8s,
    priorityFlag: uint8s,
    scheduleDeliveryTime: time,
    validityPeriod: time,
    registeredDelivery: uint8s,
    replaceIfPresentFlag: uint8s,
    dataCoding: uint8s,
    smDefaultMsgId: uint8s,
    shortMessage: octets(254),
  });
const tlvs: fc.Arbitrary<Tlv[]> = fc.array(
  fc.oneof(
    fc.record({ tag: fc.integer({ min: 0x1400, max: 0x3fff }), value: octets(40) }),
    fc.integer({ min: 0, max: 0xffff }).map((value) => integerTlv('user_message_reference', value)),
    ascii(60).map((value) => textTlv('receipted_message_id', value)),
    octets(3).map((value) => octetsTlv('network_error_code', value)),
  ),
  { maxLength: 6 },
);
const bindFields: fc.Arbitrary<BindFields> = fc.record({
  systemId: text(15),
  password: text(8),
  systemType: text(12),
  interfaceVersion: uint8s,
  addressTon: uint8s,
  addressNpi: uint8s,
  addressRange: text(40),
});
const anyPdu: fc.Arbitrary<Pdu> = fc.oneof(
  fc.tuple(messageFields(text(20)), tlvs, sequence).map(([f, t, s]): Pdu => ({ ...submitSm(f, t), sequence: s })),
  fc.tuple(messageFields(text(20)), tlvs, sequence).map(([f, t, s]): Pdu => ({ ...deliverSm(f, t), sequence: s })),
  fc.tuple(messageFields(text(20)), tlvs, sequence).map(([f, t, s]): Pdu => {
    const { serviceType, sourceAddress, destinationAddress, registeredDelivery, dataCoding } = f;
    // A report must name its message: tested in `message-rules.spec.ts`.
    const esmClass = f.esmClass & ~0x3c;
    const fields = { serviceType, sourceAddress, destinationAddress, esmClass, registeredDelivery, dataCoding };
    return { ...dataSm(fields, [...t, octetsTlv('message_payload', f.shortMessage)]), sequence: s };
  }),
  fc.tuple(messageFields(text(20)), text(64), sequence).map(([f, messageId, s]): Pdu => {
    const { sourceAddress, destinationAddress, serviceType } = f;
    const fields = { serviceType, messageId, sourceAddress, destinationAddress };
    return { command: 'cancel_sm', status: 0, sequence: s, fields, tlvs: [] };
  }),
  fc.tuple(messageFields(text(20)), text(64), sequence).map(([f, messageId, s]): Pdu => {
    const { sourceAddress, scheduleDeliveryTime, validityPeriod, registeredDelivery, smDefaultMsgId, shortMessage } = f;
    const times = { scheduleDeliveryTime, validityPeriod };
    const fields = { messageId, sourceAddress, ...times, registeredDelivery, smDefaultMsgId, shortMessage };
    return { command: 'replace_sm', status: 0, sequence: s, fields, tlvs: [] };
  }),
  fc.tuple(messageFields(text(64)), tlvs, sequence).map(([f, t, s]): Pdu => {
    const fields = { sourceAddress: f.sourceAddress, esmeAddress: f.destinationAddress };
    return { command: 'alert_notification', status: 0, sequence: s, fields, tlvs: t };
  }),
  fc
    .record({ fields: bindFields, sequence, status: fc.constant(0), tlvs })
    .map((p): Pdu => ({ command: 'bind_transceiver', ...p })),
  fc
    .record({ fields: fc.record({ messageId: text(64) }), sequence, status: fc.constant(0), tlvs })
    .map((p): Pdu => ({ command: 'submit_sm_resp', ...p })),
  fc
    .record({
      fields: fc.record({ messageId: fc.constant('') }),
      sequence,
      status: fc.constantFrom(8, 0x14, 0x58),
      tlvs,
    })
    .map((p): Pdu => ({ command: 'deliver_sm_resp', ...p })),
);

describe('the codec', () => {
  it('decodes every PDU that it encodes', () => {
    fc.assert(
      fc.property(anyPdu, (pdu) => {
        expect(decodePdu(encodePdu(pdu))).toEqual(pdu);
      }),
    );
  });

  it('decodes a PDU with up to three NUL octets at its end as the PDU without them', () => {
    const requests = anyPdu.filter(({ status }) => status === 0);
    fc.assert(
      fc.property(requests, fc.integer({ min: 1, max: 3 }), (pdu, count) => {
        const octets = Buffer.concat([encodePdu(pdu), Buffer.alloc(count)]);
        octets.writeUInt32BE(octets.length, 0);
        expect(decodePdu(octets)).toEqual(pdu);
      }),
    );
  });

  it('never throws on random octets, and keeps their sequence number', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 400 }), (bytes) => {
        const octets = Buffer.from(bytes);
        const decoded = decodePdu(octets);
        expect(decoded.sequence).toBe(octets.readUInt32BE(12));
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws on a valid PDU with changed or missing octets', () => {
    const seeds = [message(), message({}, [tlv(0x0204, uint8(0, 1))]), dataMessage([tlv(0x0424, uint8(65))]), bind()];
    const change = fc.tuple(fc.nat(), uint8s);
    fc.assert(
      fc.property(fc.constantFrom(...seeds), fc.array(change, { maxLength: 5 }), fc.nat(), (seed, changes, cut) => {
        const octets = Buffer.from(seed);
        for (const [at, value] of changes) octets[at % octets.length] = value;
        const end = 16 + (cut % (octets.length - 15));
        const decoded = decodePdu(octets, 0, end);
        if (decoded.command === 'malformed') expect(decoded.status).toBeGreaterThan(0);
        // A decoded PDU can be encoded: it can be forwarded unchanged (except the body of an error response).
        else if (decoded.status === 0) expect(decodePdu(encodePdu(decoded))).toEqual(decoded);
      }),
      { numRuns: 2_000 },
    );
  });

  it('rejects values that do not fit, before writing anything', () => {
    const bad: Partial<MessageFields>[] = [
      { sourceAddress: { ton: 1, npi: 1, value: '1'.repeat(21) } },
      { sourceAddress: { ton: 256, npi: 1, value: '1' } },
      { serviceType: 'A\0B' },
      { serviceType: '€' },
      { validityPeriod: '5R' },
      { dataCoding: 1.5 },
      { shortMessage: Buffer.alloc(256) },
    ];
    for (const fields of bad) {
      expect(() => encodePdu({ ...submitSm(fields), sequence: 1 })).toThrow(InvalidPduError);
    }
    const twoOctets = { tag: 0x0427, value: Buffer.alloc(2) };
    expect(() => encodePdu({ ...submitSm({}, [twoOctets]), sequence: 1 })).toThrow(InvalidPduError);
    expect(() => encodePdu({ ...submitSm({}), sequence: -1 })).toThrow(InvalidPduError);
  });
});

describe('agreement with npm smpp', () => {
  // Values that both can express: ASCII strings, times as text, octets instead of decoded messages.
  const plain = messageFields(ascii(20)).map((fields) => ({
    ...fields,
    esmClass: 0,
    scheduleDeliveryTime: '',
    validityPeriod: '',
  }));
  const theirValues = (fields: MessageFields, sequence_number: number) => ({
    sequence_number,
    service_type: fields.serviceType,
    source_addr_ton: fields.sourceAddress.ton,
    source_addr_npi: fields.sourceAddress.npi,
    source_addr: fields.sourceAddress.value,
    dest_addr_ton: fields.destinationAddress.ton,
    dest_addr_npi: fields.destinationAddress.npi,
    destination_addr: fields.destinationAddress.value,
    esm_class: fields.esmClass,
    protocol_id: fields.protocolId,
    priority_flag: fields.priorityFlag,
    registered_delivery: fields.registeredDelivery,
    replace_if_present_flag: fields.replaceIfPresentFlag,
    data_coding: fields.dataCoding,
    sm_default_msg_id: fields.smDefaultMsgId,
    short_message: fields.shortMessage,
  });

  it('encodes the same octets', () => {
    fc.assert(
      fc.property(plain, sequence, (fields, number) => {
        const ours = encodePdu({ ...submitSm(fields), sequence: number });
        const theirs = new smpp.PDU('submit_sm', theirValues(fields, number)).toBuffer();
        expect(ours.equals(theirs)).toBe(true);
      }),
    );
  });

  it('decodes the same fields', () => {
    fc.assert(
      fc.property(plain, sequence, ascii(40), (fields, number, receipted_message_id) => {
        const values = { ...theirValues(fields, number), receipted_message_id, message_state: 2 };
        const octets = new smpp.PDU('deliver_sm', values).toBuffer();
        const ids = [textTlv('receipted_message_id', receipted_message_id), integerTlv('message_state', 2)];
        expect(decodePdu(octets)).toEqual({ ...deliverSm(fields, ids), sequence: number });
        const theirs = new smpp.PDU(encodePdu({ ...deliverSm(fields, ids), sequence: number }));
        expect(theirs).toMatchObject({
          sequence_number: number,
          source_addr: fields.sourceAddress.value,
          destination_addr: fields.destinationAddress.value,
          data_coding: fields.dataCoding,
          receipted_message_id,
          message_state: 2,
        });
      }),
    );
  });

  it('agrees on binds and answers', () => {
    fc.assert(
      fc.property(ascii(15), ascii(8), ascii(64), sequence, (systemId, password, messageId, number) => {
        const theirBind = new smpp.PDU('bind_receiver', {
          sequence_number: number,
          system_id: systemId,
          password,
          interface_version: 0x34,
        });
        expect(decodePdu(theirBind.toBuffer())).toMatchObject({
          command: 'bind_receiver',
          sequence: number,
          fields: { systemId, password, interfaceVersion: 0x34 },
        });
        const answer: Pdu = { command: 'submit_sm_resp', status: 0, sequence: number, fields: { messageId }, tlvs: [] };
        expect(new smpp.PDU(encodePdu(answer))).toMatchObject({ message_id: messageId, sequence_number: number });
        const refusal = new smpp.PDU(encodePdu({ ...answer, status: 0x58 }));
        expect(refusal).toMatchObject({ command_status: 0x58, command_length: 16 });
      }),
    );
  });
});
