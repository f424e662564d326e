import { dataSm, deliverSm, integerTlv, octetsTlv, type MessagePdu, type Tlv } from '@countersign/smpp/pdu';
import { encodeUcs2, type DefaultAlphabet } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOf } from './message-kind.js';
import { packedForms, tlvForms, textForms, type ReceiptForm } from './receipt-forms.fixture.js';

const ID = '7fa19c';
const TOKEN = 'AUTH-ACME-0123456789ABCDEF';
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;
/** No type, and the acknowledgements of a handset and of its user. */
const OTHER_CLASSES = [0x00, 0x08, 0x10] as const;

function pduOf(form: ReceiptForm, esmClass: number): MessagePdu {
  const { text, dataCoding, tlvs } = form;
  const payload = form.inPayload ? [octetsTlv('message_payload', text)] : [];
  const others = Object.entries(tlvs).map(([name, value]): Tlv => {
    if (typeof value === 'number') return integerTlv('message_state', value);
    return octetsTlv(name === 'network_error_code' ? 'network_error_code' : 'receipted_message_id', value);
  });
  const all = [...payload, ...others];
  if (form.command === 'data_sm') return { ...dataSm({ esmClass, dataCoding }, all), sequence: 1 };
  const shortMessage = form.inPayload ? Buffer.alloc(0) : text;
  return { ...deliverSm({ esmClass, dataCoding, shortMessage }, all), sequence: 1 };
}

const message = (text: string | Buffer, esmClass = 0, tlvs: Tlv[] = [], dataCoding = 0): MessagePdu => ({
  ...deliverSm({ esmClass, dataCoding, shortMessage: Buffer.from(text) }, tlvs),
  sequence: 1,
});
const hex = (id: string): string => id.toLowerCase().replace(/^0+/, '');

function expectReceipt(form: ReceiptForm, esmClass: number, kind: string, alphabet: DefaultAlphabet = 'gsm'): void {
  const read = kindOf(pduOf(form, esmClass), alphabet);
  const { state, networkError } = form;
  expect(read).toMatchObject({ kind, receipt: { state } });
  if (read.kind === 'mo' || read.receipt === null) throw new Error('not a receipt');
  expect(hex(read.receipt.messageId)).toBe(ID);
  expect(read.receipt.networkError?.toLowerCase() ?? null).toBe(networkError?.toLowerCase() ?? null);
}

describe('a receipt', () => {
  const byText = textForms(ID);
  const marked = tlvForms(ID);
  const rows = (forms: readonly ReceiptForm[], classes: readonly number[]): [string, number, ReceiptForm][] =>
    forms.flatMap((each) => classes.map((esmClass): [string, number, ReceiptForm] => [each.what, esmClass, each]));

  it.each(rows([...byText, ...marked], [RECEIPT, RECEIPT | 0x80]))(
    '%s, marked by esm_class %i',
    (_, esmClass, form) => {
      expectReceipt(form, esmClass, 'receipt');
    },
  );

  it.each(rows(marked, OTHER_CLASSES))('%s, with esm_class %i', (_, esmClass, form) => {
    expectReceipt(form, esmClass, 'receipt');
  });

  it.each(rows(byText, OTHER_CLASSES))('%s, recognised by its text alone, with esm_class %i', (_, esmClass, form) => {
    expectReceipt(form, esmClass, 'text_receipt');
  });

  it.each(rows(packedForms(ID), [RECEIPT]))('%s over a link of packed septets, with esm_class %i', (_, esm, form) => {
    expectReceipt(form, esm, 'receipt', 'gsm-packed');
  });

  it.each(rows(packedForms(ID), [RECEIPT]))('%s over a link of octets, with esm_class %i', (_, esm, form) => {
    expectReceipt(form, esm, 'receipt', 'gsm');
  });

  it.each(['gsm', 'latin1', 'ascii', 'gsm-packed'] as const)(
    'is recognised by its text over a link of %s',
    (alphabet) => {
      for (const form of [...packedForms(ID), ...byText]) expectReceipt(form, 0, 'text_receipt', alphabet);
    },
  );

  it('with an underscore in its id, in either alphabet', () => {
    for (const octet of [0x5f, 0x11]) {
      const text = Buffer.concat([Buffer.from('id:ab'), Buffer.from([octet]), Buffer.from('7 stat:DELIVRD')]);
      expect(kindOf(message(text, RECEIPT), 'gsm')).toMatchObject({ receipt: { messageId: 'ab_7' } });
    }
  });

  it('without a final state is one by esm_class, or by its TLVs', () => {
    const named = octetsTlv('receipted_message_id', Buffer.from('7\0'));
    const undecided = { kind: 'receipt', receipt: { messageId: '7', state: 'undecided', networkError: null } };
    expect(kindOf(message('id:7 stat:DELIVRD', INTERMEDIATE), 'gsm')).toEqual(undecided);
    expect(kindOf(message('id:7 stat:ACCEPTD', RECEIPT), 'gsm')).toEqual(undecided);
    expect(kindOf(message('', 0, [named]), 'gsm')).toEqual(undecided);
    expect(kindOf(message('wait', 0, [named, integerTlv('message_state', 1)]), 'gsm')).toEqual(undecided);
    expect(kindOf(message('id:7 stat:ACCEPTD', 0, [named]), 'gsm')).toEqual(undecided);
  });

  it.each(['', 'stat:DELIVRD', 'hello', 'id: sub:001 dlvrd:001 stat:DELIVRD err:000'])(
    '%j names no message',
    (text) => {
      expect(kindOf(message(text, RECEIPT), 'gsm')).toEqual({ kind: 'receipt', receipt: null });
    },
  );
});

describe('an MO', () => {
  const named = octetsTlv('receipted_message_id', Buffer.from('7\0'));

  it.each([
    'hello',
    'idea: let us meet',
    'I do',
    'states: many',
    'id 7 stat DELIVRD',
    'x id:7 stat:DELIVRD',
    TOKEN,
    '',
  ])('%j has no form of a receipt', (text) => {
    for (const esmClass of OTHER_CLASSES) expect(kindOf(message(text, esmClass), 'gsm')).toMatchObject({ kind: 'mo' });
    expect(kindOf(message(encodeUcs2(text), 0, [], 8), 'gsm')).toMatchObject({ kind: 'mo' });
  });

  it.each([
    ['that is marked as a receipt', message(TOKEN, RECEIPT)],
    ['that is marked as an intermediate notification', message(`hi ${TOKEN}`, INTERMEDIATE)],
    ['beside an id without a state', message(`id:7 ${TOKEN}`, RECEIPT)],
    ['in UCS-2', message(encodeUcs2(TOKEN), RECEIPT, [], 8)],
    ['in UTF-8', message(`id:7 ${TOKEN.replaceAll('-', '–')}`, RECEIPT)],
    ['in the form of a receipt', message(`id:7 stat:DELIVRD err:000 text:${TOKEN}`)],
    ['as a reply to one of ours', message(`yes ${TOKEN}`, 0, [named])],
  ])('has its token %s', (_, pdu) => {
    expect(kindOf(pdu, 'gsm')).toMatchObject({ kind: 'mo' });
  });

  it('is a reply that names our message by TLV, without a state', () => {
    expect(kindOf(message('yes', 0, [named]), 'gsm')).toMatchObject({ kind: 'mo' });
    expect(kindOf(message('yes', 0x10, [named]), 'gsm')).toMatchObject({ kind: 'mo' });
  });

  it('is a part of a long message that is marked as a receipt and names no final state', () => {
    const header = Buffer.from([5, 0, 3, 77, 2, 1]);
    const part = Buffer.concat([header, Buffer.from(TOKEN.slice(0, 16))]);
    expect(kindOf(message(part, 0x40 | RECEIPT), 'gsm')).toMatchObject({ kind: 'mo' });
  });

  it('does not turn a receipt into an MO by its quotation', () => {
    const quoted = `id:7 stat:DELIVRD err:000 text:${TOKEN}`;
    expect(kindOf(message(quoted, RECEIPT), 'gsm')).toMatchObject({ kind: 'receipt', receipt: { messageId: '7' } });
  });
});

describe('any message', () => {
  const words = [
    'id:',
    'stat:',
    'err:',
    'text:',
    'DELIVRD',
    ' ',
    '7',
    '\0',
    'ÿ',
    ',',
    TOKEN,
    '–',
    'submit date:',
  ] as const;
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 254 }).map((octets) => Buffer.from(octets)),
    fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((each) => Buffer.from(each.join('')).subarray(0, 254)),
  );
  const tlvs = fc.array(
    fc
      .tuple(
        fc.constantFrom('receipted_message_id', 'message_state', 'sar_msg_ref_num'),
        fc.uint8Array({ maxLength: 70 }),
      )
      .map(([name, octets]) => octetsTlv(name as 'message_state', octets)),
    { maxLength: 4 },
  );
  const octet = fc.oneof(fc.constantFrom(0, 4, 8, 0x10, 0x20, 0x44), fc.nat(255));
  const alphabets = fc.constantFrom<DefaultAlphabet>('gsm', 'latin1', 'ascii', 'gsm-packed');

  it('has a kind, and names printable ids only', () => {
    fc.assert(
      fc.property(texts, tlvs, octet, octet, alphabets, (text, extra, esmClass, dataCoding, alphabet) => {
        const read = kindOf(message(text, esmClass, extra, dataCoding), alphabet);
        if (read.kind !== 'mo' && read.receipt !== null) expect(read.receipt.messageId).toMatch(/^[\x21-\x7e]{1,64}$/);
        if (read.kind === 'text_receipt') expect(read.message.tokens).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['id:', 'id:7', 'stat:', 'id:id:stat:', 'text:', ' ', 'submit date:', 'id : ', '\0', 'id:7,', 'id:7;sub'])(
    'of 64 KiB of %j has a kind',
    (unit) => {
      // Within the time limit of a test: a quadratic scan of 64 KiB takes longer.
      const text = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
      for (const esmClass of [RECEIPT, 0]) {
        const pdu = { ...deliverSm({ esmClass }, [octetsTlv('message_payload', text)]), sequence: 1 };
        expect(['mo', 'receipt', 'text_receipt']).toContain(kindOf(pdu, 'gsm').kind);
      }
    },
  );
});
