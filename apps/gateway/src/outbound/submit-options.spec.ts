import { SMPP_TLVS, submitOptionsFault, VENDOR_TLVS, type SubmitOptions } from '@countersign/carriers/submit-options';
import { decodePdu, encodePdu } from '@countersign/smpp/codec';
import { integerTlv, type SubmitSm } from '@countersign/smpp/pdu';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recipientAddress, senderAddress } from './submit-address.js';
import { submitPdu, type Envelope } from './submit-pdu.js';
import { textParts } from './text-parts.js';

const LONG_TEXT = '€'.repeat(71);
const message: Envelope = {
  destination: '+14155552671',
  source: '+14155550100',
  validSeconds: 90,
  expiresAt: new Date('2026-01-31T12:00:00.000Z'),
  brand: 'Acme',
  messageId: 'msg_00000000000000000000000001',
};

function octetsOf(options: SubmitOptions, text: string, changes: Partial<Envelope> = {}): Buffer[] {
  return textParts(text, 'latin1', 7, options.concatenation).map((part) =>
    encodePdu({ ...submitPdu({ ...message, ...changes }, part, options), sequence: 1 }),
  );
}

function sent(options: SubmitOptions, text = '123456', changes: Partial<Envelope> = {}): SubmitSm[] {
  return octetsOf(options, text, changes).map((octets) => {
    const pdu = decodePdu(octets);
    if (pdu.command !== 'submit_sm') throw new Error(`not a submit_sm: ${pdu.command}`);
    return pdu;
  });
}
const fieldsOf = (options: SubmitOptions, changes: Partial<Envelope> = {}) =>
  sent(options, '123456', changes)[0]?.fields;

describe('the submit of a code without options', () => {
  it('has the octets of releases without options', () => {
    expect(
      octetsOf({}, '123456 is your Acme code.', { source: '60606' }).map((octets) => octets.toString('hex')),
    ).toEqual([
      '0000005a0000000400000000000000010003003630363036000101313431353535353236373100000000003030303030303030303133303030305200010000001931323334353620697320796f75722041636d6520636f64652e',
    ]);
    const euros = (count: number): string => '20ac'.repeat(count);
    expect(octetsOf({}, LONG_TEXT).map((octets) => octets.toString('hex'))).toEqual([
      `000000d30000000400000000000000010001013134313535353530313030000101313431353535353236373100400000003030303030303030303133303030305200000008008c050003070201${euros(67)}`,
      `000000550000000400000000000000010001013134313535353530313030000101313431353535353236373100400000003030303030303030303133303030305200010008000e050003070202${euros(4)}`,
    ]);
  });
});

describe('options', () => {
  it('set the fields of a submit_sm', () => {
    const options = { serviceType: 'OTP', protocolId: 0x40, priorityFlag: 1, registeredDelivery: 2 } as const;
    expect(fieldsOf(options)).toMatchObject(options);
    expect(fieldsOf({ validityPeriod: 'absolute' })?.validityPeriod).toBe('260131120000000+');
    expect(fieldsOf({ validityPeriod: 'none' })?.validityPeriod).toBe('');
  });

  it.each<[object, string, object]>([
    [{}, '+447400123456', { ton: 1, npi: 1, value: '447400123456' }],
    [{ form: 'plus' }, '+447400123456', { ton: 1, npi: 1, value: '+447400123456' }],
    [{ form: 'national' }, '+447400123456', { ton: 2, npi: 1, value: '7400123456' }],
    [{ form: 'national', ton: 0 }, '+390612345678', { ton: 0, npi: 1, value: '0612345678' }],
    [{ form: 'national' }, '+9', { ton: 1, npi: 1, value: '9' }],
    [{ npi: 8 }, '+447400123456', { ton: 1, npi: 8, value: '447400123456' }],
  ])('%j write the number %s', (options, number, address) => {
    expect(recipientAddress(number, options)).toEqual(address);
    expect(senderAddress(number, options)).toEqual(address);
  });

  it('do not change letters and short codes but for their TON and NPI', () => {
    expect(senderAddress('ACME', { form: 'national' })).toEqual({ ton: 5, npi: 0, value: 'ACME' });
    expect(senderAddress('60606', { ton: 6, npi: 1 })).toEqual({ ton: 6, npi: 1, value: '60606' });
  });

  it('send a long text by sar TLVs, or as one message_payload', () => {
    const parts = sent({ concatenation: 'sar', registeredDelivery: 2 }, LONG_TEXT);
    expect(parts.map(({ fields, tlvs }) => [fields.esmClass, fields.registeredDelivery, tlvs])).toEqual(
      [1, 2].map((part) => [
        0,
        part === 2 ? 2 : 0,
        [integerTlv('sar_msg_ref_num', 7), integerTlv('sar_total_segments', 2), integerTlv('sar_segment_seqnum', part)],
      ]),
    );
    const [whole, ...others] = sent({ concatenation: 'message_payload' }, LONG_TEXT);
    expect(others).toEqual([]);
    expect(whole?.fields.shortMessage).toHaveLength(0);
    expect(whole?.tlvs.map(({ tag, value }) => [tag, value.toString('hex')])).toEqual([[0x0424, '20ac'.repeat(71)]]);
    for (const concatenation of ['sar', 'message_payload'] as const)
      expect(octetsOf({ concatenation }, '123456')).toEqual(octetsOf({}, '123456'));
  });

  it('know the TLVs of the SMPP engine, with the lengths that it checks', () => {
    for (const [name, [tag, octets]] of Object.entries(SMPP_TLVS)) {
      if (name.startsWith('sar_') || name === 'message_payload') continue;
      const isInteger = octets !== undefined;
      const value = isInteger ? 0 : 'x';
      const type = isInteger ? `uint${8 * octets}` : 'string';
      const options = { tlvs: [{ tag: name, type, value }] } as SubmitOptions;
      expect([name, submitOptionsFault(options)]).toEqual([name, null]);
      expect(sent(options)[0]?.tlvs.map((tlv) => [tlv.tag, tlv.value.length])).toEqual([[tag, octets ?? 1]]);
    }
    expect(Object.keys(VENDOR_TLVS)).toEqual(['dlt_principal_entity_id', 'dlt_template_id', 'dlt_telemarketer_chain']);
  });

  it('that are accepted always give a PDU that can be encoded', () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        OPTIONS,
        ENVELOPES,
        fc.constantFrom('123456', LONG_TEXT, 'ж'.repeat(71)),
        (options, changes, text) => {
          if (submitOptionsFault(options) !== null) return;
          accepted += 1;
          for (const pdu of sent(options, text, changes)) expect(pdu.command).toBe('submit_sm');
        },
      ),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

const digits = (most: number) => fc.string({ unit: fc.constantFrom(...Array.from('+0123456789')), maxLength: most });
const RULE = fc.record(
  {
    of: fc.constantFrom('source', 'destination'),
    match: fc.oneof(digits(5), fc.constantFrom('+', '+4', 'ACME', '14155552671')),
    replace: fc.oneof(digits(20), fc.constantFrom('00', '+', 'VM-ACME')),
    exact: fc.boolean(),
  },
  { requiredKeys: ['of', 'match', 'replace'] },
);
const NAMES = [...Object.keys(SMPP_TLVS), ...Object.keys(VENDOR_TLVS)];
const TLV = fc.record({
  tag: fc.oneof(fc.constantFrom(...NAMES), fc.nat(0xffff), fc.constantFrom('0x1400', '0X1401')),
  type: fc.constantFrom('string', 'cstring', 'hex', 'uint8', 'uint16', 'uint32'),
  value: fc.oneof(
    fc.nat(),
    fc.string({ maxLength: 300 }),
    fc.constantFrom('00ff', '{{brand}}{{sender}}', '{{country}}'),
  ),
});
const ADDRESS = fc.record(
  { ton: fc.nat(255), npi: fc.nat(255), form: fc.constantFrom('international', 'plus', 'national') },
  { requiredKeys: [] },
);
/** Mostly legal. */
const OPTIONS = fc.record(
  {
    validityPeriod: fc.constantFrom('relative', 'absolute', 'none'),
    serviceType: fc.string({ maxLength: 6 }),
    protocolId: fc.nat(255),
    priorityFlag: fc.nat(5),
    registeredDelivery: fc.nat(31),
    source: ADDRESS,
    destination: ADDRESS,
    concatenation: fc.constantFrom('udh', 'sar', 'message_payload'),
    tlvs: fc.array(TLV, { maxLength: 2 }),
    rewrite: fc.array(RULE, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const ENVELOPES = fc.record({
  source: fc.constantFrom('+14155550100', '+999999999999999', '60606', 'ACME', 'ACME Inc 24', '12345678'),
  destination: fc.constantFrom('+14155552671', '+447400123456', '+999999999999999', '+88213300001'),
  brand: fc.string({ unit: 'grapheme', maxLength: 100 }),
});
