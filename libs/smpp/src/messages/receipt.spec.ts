import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataSm, deliverSm } from '../pdu/pdu.js';
import type { DeliverSm } from '../pdu/pdu.js';
import { parseReceipt } from './receipt.js';
import { integerTlv, octetsTlv, textTlv } from '../pdu/tlv.js';

const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;
const receipt = (text: string, tlvs: DeliverSm['tlvs'] = [], esmClass = RECEIPT): DeliverSm => ({
  ...deliverSm({ esmClass, shortMessage: Buffer.from(text, 'latin1') }, tlvs),
  sequence: 1,
});
const stateTlv = (state: number) => integerTlv('message_state', state);

describe('the text of a receipt', () => {
  it('is parsed as in appendix B', () => {
    const text =
      'id:1234567890 sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:DELIVRD err:000 text:123456 is';
    expect(parseReceipt(receipt(text))).toEqual({ messageId: '1234567890', state: 'delivered', networkError: null });
  });

  it.each([
    ['id:7 stat:UNDELIV err:027 text:x', '7', '027'],
    ['id:00aBc submit date:251121120000 done date:251121120001 stat:EXPIRED err:0x1f Text:x', '00aBc', '0x1f'],
    ['ID: 7f-3 STAT: rejectd ERR: 000', '7f-3', 'REJECTD'],
    ['id:7 stat:UNDELIVERABLE', '7', 'UNDELIV'],
    ['id:7 stat:Failed err:', '7', 'FAILED'],
    ['sub:001 stat:DELETED id:7', '7', 'DELETED'],
  ])('%j gives the error', (text, messageId, networkError) => {
    expect(parseReceipt(receipt(text))).toEqual({ messageId, state: 'undelivered', networkError });
  });

  it.each(['ENROUTE', 'ACCEPTD', 'accepted', 'UNKNOWN', 'SOMETHING', ''])('with stat:%s decides nothing', (state) => {
    expect(parseReceipt(receipt(`id:7 stat:${state} err:027`))).toEqual({
      messageId: '7',
      state: 'undecided',
      networkError: null,
    });
  });

  it('may be UCS-2', () => {
    const shortMessage = Buffer.from('id:7 stat:DELIVRD', 'utf16le').swap16();
    const pdu = { ...deliverSm({ esmClass: RECEIPT, dataCoding: 8, shortMessage }), sequence: 1 };
    expect(parseReceipt(pdu)?.state).toBe('delivered');
  });

  it.each(['', 'hello', 'id:', `id:${'7'.repeat(65)} stat:DELIVRD`, 'paid:7 stat:DELIVRD', 'stat:DELIVRD'])(
    '%j names no message',
    (text) => {
      expect(parseReceipt(receipt(text))).toBe(null);
    },
  );
});

describe('a long text of a receipt', () => {
  const long = (text: string): DeliverSm => receipt('', [octetsTlv('message_payload', Buffer.from(text, 'latin1'))]);
  const quoted = (octets: number): string => `text:${'quoted '.repeat(octets).slice(0, octets - 5)}`;

  it('has its fields within 2,048 octets, also behind a quotation', () => {
    const fields = ' id:7 stat:UNDELIV err:027 ';
    const expected = { messageId: '7', state: 'undelivered', networkError: '027' };
    expect(parseReceipt(long(quoted(2_048 - fields.length) + fields + 'x'.repeat(60_000)))).toEqual(expected);
    expect(parseReceipt(long(quoted(2_048) + fields))).toBe(null);
  });

  it('names no message by an id that is cut there', () => {
    expect(parseReceipt(long(`${quoted(2_041)} id:123456 stat:DELIVRD`))).toBe(null);
    expect(parseReceipt(long(`id:${'7'.repeat(60_000)} stat:DELIVRD`))).toBe(null);
  });
});

describe('the TLVs of a receipt', () => {
  it('take precedence over its text', () => {
    const tlvs = [textTlv('receipted_message_id', 'abc'), stateTlv(2)];
    expect(parseReceipt(receipt('id:7 stat:UNDELIV err:027', tlvs))).toEqual({
      messageId: 'abc',
      state: 'delivered',
      networkError: null,
    });
  });

  it('are sufficient, in a data_sm too', () => {
    const code = octetsTlv('network_error_code', Buffer.from([3, 0, 27]));
    const tlvs = [textTlv('receipted_message_id', 'abc'), stateTlv(5), code];
    const expected = { messageId: 'abc', state: 'undelivered', networkError: '027' };
    expect(parseReceipt(receipt('', tlvs))).toEqual(expected);
    expect(parseReceipt({ ...dataSm({ esmClass: RECEIPT }, tlvs), sequence: 1 })).toEqual(expected);
  });

  it.each([
    [1, 'undecided'],
    [2, 'delivered'],
    [3, 'undelivered'],
    [4, 'undelivered'],
    [5, 'undelivered'],
    [6, 'undecided'],
    [7, 'undecided'],
    [8, 'undelivered'],
    [9, 'undelivered'],
    [77, 'undecided'],
  ])('message_state %i is %s', (state, expected) => {
    expect(parseReceipt(receipt('id:7', [stateTlv(state)]))?.state).toBe(expected);
  });

  it.each([
    ['without its NUL', Buffer.from('abc')],
    ['with octets behind its NUL', Buffer.from('abc\0def')],
  ])('may carry an id %s', (_, value) => {
    expect(parseReceipt(receipt('', [octetsTlv('receipted_message_id', value)]))?.messageId).toBe('abc');
  });

  it('are replaced by the text when the id is invalid or the error code is 0', () => {
    const tlvs = [
      octetsTlv('receipted_message_id', Buffer.from('\0')),
      octetsTlv('network_error_code', Buffer.alloc(3)),
    ];
    expect(parseReceipt(receipt('id:7 stat:UNDELIV err:12', tlvs))).toEqual({
      messageId: '7',
      state: 'undelivered',
      networkError: '12',
    });
  });
});

describe('an intermediate notification', () => {
  it('is never final, whatever its state', () => {
    expect(parseReceipt(receipt('id:7 stat:DELIVRD', [stateTlv(2)], INTERMEDIATE))?.state).toBe('undecided');
  });
});

describe('any octets', () => {
  const words = ['id:', 'stat:', 'err:', 'DELIVRD', 'UNDELIV', ' ', '7', 'ff', '\0', ':', '\u00ff', '\n'] as const;
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 254 }).map((octets) => Buffer.from(octets)),
    fc
      .array(fc.constantFrom(...words), { maxLength: 40 })
      .map((parts) => Buffer.from(parts.join(''), 'latin1').subarray(0, 254)),
  );
  const tlvs = fc.array(
    fc
      .tuple(
        fc.constantFrom('receipted_message_id', 'message_state', 'network_error_code', 'message_payload' as const),
        fc.uint8Array({ maxLength: 70 }),
      )
      .map(([name, octets]) => octetsTlv(name, octets)),
    { maxLength: 5 },
  );

  it('give a receipt with a printable id and an error only if undelivered, or null', () => {
    fc.assert(
      fc.property(
        texts,
        tlvs,
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 255 }),
        (text, extra, esmClass, dataCoding) => {
          const pdu = { ...deliverSm({ esmClass, dataCoding, shortMessage: text }, extra), sequence: 1 };
          const read = parseReceipt(pdu);
          if (read === null) return;
          expect(read.messageId).toMatch(/^[\x21-\x7e]{1,64}$/);
          if (read.state === 'undelivered') expect(read.networkError).toMatch(/^[0-9A-Za-z]{1,8}$/);
          else expect(read.networkError).toBe(null);
        },
      ),
    );
  });
});
