import {
  dataSm,
  deliverSm,
  integerTlv,
  octetsTlv,
  submitSm,
  type MessagePdu,
  type Outgoing,
} from '@countersign/smpp/pdu';
import { encodeUcs2, packSeptets } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage } from './received-message.js';

const TOKEN = '0123456789ABCDEF';
const TEXT = `AUTH-ACME-${TOKEN}\nTap send`;
const FOUND = [{ slug: 'ACME', token: TOKEN }];

const received = (pdu: Outgoing<MessagePdu>): MessagePdu => ({ ...pdu, sequence: 1 });
const udh8 = (total: number, part: number): Buffer => Buffer.from([5, 0, 3, 77, total, part]);

describe('reading an MO', () => {
  it.each([
    ['submit_sm', submitSm({ shortMessage: Buffer.from(TEXT) })],
    ['deliver_sm', deliverSm({ shortMessage: Buffer.from(TEXT) })],
    ['message_payload', deliverSm({}, [octetsTlv('message_payload', Buffer.from(TEXT))])],
    ['data_sm', dataSm({}, [octetsTlv('message_payload', Buffer.from(TEXT))])],
    ['UCS-2', deliverSm({ dataCoding: 8, shortMessage: encodeUcs2(TEXT) })],
  ])('reads text and tokens from %s', (_, pdu) => {
    expect(readMessage(received(pdu), 'gsm')).toMatchObject({ text: TEXT, tokens: FOUND, part: null });
  });

  it('keeps the addresses unchanged', () => {
    const pdu = deliverSm({
      sourceAddress: { ton: 1, npi: 1, value: '14155552671' },
      destinationAddress: { ton: 3, npi: 0, value: '70700' },
    });
    expect(readMessage(received(pdu), 'gsm')).toMatchObject({
      source: { ton: 1, npi: 1, value: '14155552671' },
      destination: { ton: 3, npi: 0, value: '70700' },
      text: '',
      tokens: [],
    });
  });

  it('reads the default alphabet of the link, also packed after a header', () => {
    const header = udh8(2, 1);
    const packed = packSeptets(Buffer.from(TEXT), 1);
    const pdu = deliverSm({ esmClass: 0x40, shortMessage: Buffer.concat([header, packed]) });
    expect(readMessage(received(pdu), 'gsm-packed').tokens).toEqual(FOUND);
  });

  it('reads the part of a long message from its header or its TLVs', () => {
    const byHeader = deliverSm({ esmClass: 0x40, shortMessage: Buffer.concat([udh8(3, 2), Buffer.from('b')]) });
    expect(readMessage(received(byHeader), 'gsm')).toMatchObject({
      text: 'b',
      part: { reference: 77, referenceBits: 8, total: 3, part: 2 },
    });
    const byTlvs = deliverSm({ shortMessage: Buffer.from('b') }, [
      integerTlv('sar_msg_ref_num', 777),
      integerTlv('sar_total_segments', 3),
      integerTlv('sar_segment_seqnum', 2),
    ]);
    expect(readMessage(received(byTlvs), 'gsm')).toMatchObject({ part: { reference: 777, total: 3, part: 2 } });
  });

  it('reads a long message of one part as a single message', () => {
    const pdu = deliverSm({ esmClass: 0x40, shortMessage: Buffer.concat([udh8(1, 1), Buffer.from('b')]) });
    expect(readMessage(received(pdu), 'gsm').part).toBeNull();
  });

  it.each([
    ['en dashes', TEXT.replaceAll('-', '\u2013')],
    ['a quotation mark at its edge', `\u201C${TEXT.split('\n')[0] ?? ''}\u201D`],
    ['zero-width characters', Array.from(TEXT).join('\u200B')],
    ['wide forms', 'ＡＵＴＨ－ＡＣＭＥ－０１２３４５６７８９ＡＢＣＤＥＦ'],
    ['a byte order mark and a dash', `\uFEFF${TEXT.replaceAll('-', '\u2014')}`],
  ])('reads UTF-8 with %s under data_coding 0, in every default alphabet', (_, text) => {
    for (const alphabet of ['gsm', 'latin1', 'ascii', 'gsm-packed'] as const) {
      const pdu = received(deliverSm({ shortMessage: Buffer.from(text) }));
      expect(readMessage(pdu, alphabet)).toMatchObject({ text, tokens: FOUND });
    }
  });

  it('reads octets in the default alphabet first, and keeps that text where UTF-8 has no token either', () => {
    const latin1 = Buffer.from(`Gr\u00fc\u00dfe ${TEXT}`, 'latin1');
    expect(readMessage(received(deliverSm({ shortMessage: latin1 })), 'latin1')).toMatchObject({ tokens: FOUND });
    const both = Buffer.from(`\u00c3\u00bc ${TEXT}`, 'latin1');
    expect(readMessage(received(deliverSm({ shortMessage: both })), 'latin1').text).toBe(`\u00c3\u00bc ${TEXT}`);
    const none = Buffer.from('\u00c3\u00bc hello', 'latin1');
    expect(readMessage(received(deliverSm({ shortMessage: none })), 'latin1').text).toBe('\u00c3\u00bc hello');
  });

  it.each([
    ['a letter of UTF-8', Buffer.from(`\u00e9${TEXT.replaceAll('-', '\u2013')}`)],
    ['a letter of Latin-1', Buffer.from(`\u00e9${TEXT}`, 'latin1')],
  ])('finds no token behind %s', (_, shortMessage) => {
    expect(readMessage(received(deliverSm({ shortMessage })), 'latin1').tokens).toEqual([]);
  });

  it('never throws, for any octets, data_coding and esm_class', () => {
    const alphabets = fc.constantFrom('gsm', 'latin1', 'ascii', 'gsm-packed');
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 255 }),
        fc.nat(255),
        fc.nat(255),
        alphabets,
        (octets, dcs, esm, alphabet) => {
          const pdu = deliverSm({ esmClass: esm, dataCoding: dcs, shortMessage: Buffer.from(octets) });
          expect(typeof readMessage(received(pdu), alphabet).text).toBe('string');
        },
      ),
    );
  });
});
