import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatenationOf, messageKind, messageOctets } from './message-text.js';
import { dataSm, deliverSm } from '../pdu/pdu.js';
import type { DeliverSm } from '../pdu/pdu.js';
import { integerTlv, octetsTlv } from '../pdu/tlv.js';

const UDHI = 0x40;
const withHeader = (octets: readonly number[], text = 'text'): DeliverSm => ({
  ...deliverSm({ esmClass: UDHI, shortMessage: Buffer.concat([Buffer.from(octets), Buffer.from(text)]) }),
  sequence: 1,
});
const plain = (tlvs: DeliverSm['tlvs']): DeliverSm => ({
  ...deliverSm({ shortMessage: Buffer.from('text') }, tlvs),
  sequence: 1,
});
const sar = (reference: number, total: number, part: number) => [
  integerTlv('sar_msg_ref_num', reference),
  integerTlv('sar_total_segments', total),
  integerTlv('sar_segment_seqnum', part),
];

describe('the text of a message', () => {
  it('is in short_message or in message_payload', () => {
    const payload = octetsTlv('message_payload', Buffer.from('long'));
    expect(messageOctets({ ...deliverSm({}, [payload]), sequence: 1 }).octets.toString()).toBe('long');
    expect(messageOctets({ ...dataSm({}, [payload]), sequence: 1 }).octets.toString()).toBe('long');
    expect(messageOctets(plain([])).octets.toString()).toBe('text');
    expect(messageOctets({ ...dataSm({}), sequence: 1 }).octets).toHaveLength(0);
  });

  it('is split from its header, in either field', () => {
    const header = [5, 0x00, 3, 0xab, 2, 1];
    const { octets, udh } = messageOctets(withHeader(header));
    expect(octets.toString()).toBe('text');
    expect(udh?.octets).toHaveLength(6);
    const payload = octetsTlv('message_payload', Buffer.from([...header, 65]));
    expect(messageOctets({ ...dataSm({ esmClass: UDHI }, [payload]), sequence: 1 }).octets.toString()).toBe('A');
  });

  it('is the whole field when esm_class announces a malformed header', () => {
    expect(messageOctets(withHeader([], 'AUTH-ACME')).octets.toString()).toBe('AUTH-ACME');
    expect(messageOctets(withHeader([5, 0x00, 9, 1, 2, 1])).udh).toBe(null);
    expect(messageOctets(withHeader([], '')).octets).toHaveLength(0);
  });

  it.each([
    [[5, 0x00, 3, 1, 2, 1], 1],
    [[6, 0x08, 4, 1, 1, 2, 1], 0],
    [[3, 0x25, 1, 1], 3],
  ])('reports the padding before packed septets behind header %j', (header, fillBits) => {
    expect(messageOctets(withHeader(header)).udh?.fillBits).toBe(fillBits);
  });
});

describe('the concatenation of a part', () => {
  it('reads an 8-bit and a 16-bit reference', () => {
    expect(concatenationOf(withHeader([5, 0x00, 3, 0xab, 3, 2]))).toEqual({
      reference: 0xab,
      referenceBits: 8,
      total: 3,
      part: 2,
    });
    expect(concatenationOf(withHeader([6, 0x08, 4, 0xab, 0xcd, 3, 2]))).toEqual({
      reference: 0xabcd,
      referenceBits: 16,
      total: 3,
      part: 2,
    });
  });

  it('finds the element behind others', () => {
    expect(concatenationOf(withHeader([8, 0x24, 1, 1, 0x00, 3, 7, 2, 1]))?.reference).toBe(7);
  });

  it('reads the three SAR TLVs', () => {
    expect(concatenationOf(plain(sar(0x1234, 2, 1)))).toEqual({
      reference: 0x1234,
      referenceBits: 16,
      total: 2,
      part: 1,
    });
  });

  it('is null for incomplete or contradictory values', () => {
    for (const tlvs of [sar(1, 0, 0), sar(1, 2, 3), sar(1, 2, 0), sar(1, 2, 1).slice(1), sar(1, 2, 1).slice(0, 2)]) {
      expect(concatenationOf(plain(tlvs))).toBe(null);
    }
    expect(concatenationOf(withHeader([5, 0x00, 3, 1, 2, 3]))).toBe(null);
    expect(concatenationOf(withHeader([4, 0x00, 2, 1, 2]))).toBe(null);
    expect(concatenationOf(plain([]))).toBe(null);
  });

  it('never throws on any text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (octets) => {
        const pdu = withHeader([...octets], '');
        const { octets: text, udh } = messageOctets(pdu);
        expect(text.length + (udh?.octets.length ?? 0)).toBe(octets.length);
        concatenationOf(pdu);
      }),
    );
  });
});

describe('the kind of a message by esm_class', () => {
  it.each([
    [0x00, 'message'],
    [0x43, 'message'],
    [0x04, 'receipt'],
    [0x44, 'receipt'],
    [0x20, 'receipt'],
    [0x08, 'acknowledgement'],
    [0x10, 'acknowledgement'],
  ])('%i is a %s', (esmClass, kind) => {
    expect(messageKind({ ...deliverSm({ esmClass }), sequence: 1 })).toBe(kind);
  });
});
