import { packSeptets } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePdu } from '../codec/decode.js';
import { bind as bindOf, counted, ID, message, pdu, RESP, TEXT, tlv, uint8 } from '../codec/octets.fixture.js';
import { redactOctets } from './redact-octets.js';

function redacted(octets: Buffer, keepText = false): Buffer {
  const copy = Buffer.from(octets);
  redactOctets(copy, keepText);
  return copy;
}

const SECRET = 'hunter2';
const bind = (password = SECRET): Buffer => bindOf(ID.bind_transceiver, { password, systemType: 'VMS' });

const RECEIPT =
  'id:0123456789 sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:';

describe('a redacted PDU', () => {
  it('has no password, whether texts are kept or not, and still decodes as a bind', () => {
    for (const keepText of [false, true]) {
      const shown = redacted(bind(), keepText);
      expect(shown.includes(SECRET)).toBe(false);
      expect(decodePdu(shown)).toMatchObject({
        command: 'bind_transceiver',
        fields: { systemId: 'carrier', password: '*'.repeat(SECRET.length), systemType: 'VMS' },
      });
    }
  });

  it('has no password when the bind is malformed', () => {
    const full = bind();
    const cut = full.subarray(0, full.indexOf(SECRET) + SECRET.length);
    const tooLong = bind(`${SECRET}${SECRET}`);
    const shifted = bindOf(ID.bind_receiver, { systemId: `a name of 16 octets and ${SECRET}` });
    for (const octets of [cut, tooLong, shifted]) {
      expect(redacted(octets).includes(SECRET)).toBe(false);
      expect(redacted(octets, true).includes(SECRET)).toBe(false);
    }
  });

  it('has no text unless texts are kept, and is unchanged otherwise', () => {
    const octets = message();
    const shown = redacted(octets);
    expect(shown.includes(TEXT)).toBe(false);
    expect(decodePdu(shown)).toMatchObject({
      command: 'submit_sm',
      fields: { sourceAddress: { value: '15551230001' }, shortMessage: Buffer.from('*'.repeat(TEXT.length)) },
    });
    expect(redacted(octets, true)).toEqual(octets);
  });

  it('keeps NUL octets at its end, which are no part of a text', () => {
    const octets = message({}, [uint8(0, 0)]);
    expect(redacted(octets, true)).toEqual(octets);
    expect(decodePdu(redacted(octets))).toMatchObject({ command: 'submit_sm' });
  });

  it('has no text in message_payload and vendor TLVs, and keeps the other TLVs', () => {
    const tlvs = [tlv(0x0424, Buffer.from(TEXT)), tlv(0x1401, Buffer.from(TEXT)), tlv(0x001e, Buffer.from('abc\0'))];
    const shown = redacted(message({ text: counted('') }, tlvs, ID.deliver_sm));
    expect(shown.includes(TEXT)).toBe(false);
    expect(shown.includes('abc')).toBe(true);
    expect(decodePdu(shown)).toMatchObject({ command: 'deliver_sm' });
  });

  it('keeps the user data header of a part', () => {
    const header = Buffer.from([5, 0, 3, 42, 2, 1]);
    const text = Buffer.concat([header, Buffer.from(TEXT)]);
    const shown = decodePdu(redacted(message({ esmClass: uint8(0x40), text: counted(text) }, [], ID.deliver_sm)));
    expect(shown).toMatchObject({
      fields: { shortMessage: Buffer.concat([header, Buffer.from('*'.repeat(TEXT.length))]) },
    });
  });

  it('keeps the fields of a receipt, but not the text that it quotes', () => {
    const octets = message(
      { esmClass: uint8(0x04), text: counted(`${RECEIPT}123456 is your code`) },
      [],
      ID.deliver_sm,
    );
    expect(decodePdu(redacted(octets))).toMatchObject({
      fields: { shortMessage: Buffer.from(`${RECEIPT}${'*'.repeat(19)}`) },
    });
  });

  const shownText = (text: string, esmClass = 0x04): string => {
    const octets = redacted(message({ esmClass: uint8(esmClass), text: counted(text) }, [], ID.deliver_sm));
    const { fields } = decodePdu(octets) as { fields: { shortMessage: Buffer } };
    return fields.shortMessage.toString('latin1');
  };

  it.each([
    ['id:7 stat:DELIVRD err:000 text :', '123456 is your code'],
    ['ID: 7f-3 STAT: rejectd ERR: 0x1f TEXT:', TEXT],
    ['sub:001 state:DELETED id:7, error:27 Text  :', TEXT],
    ['id:7 stat:DELIVRD ', '123456 is your code'],
    ['id:7 stat:DELIVRD ', 'msg:123456'],
    ['id:7 ', `id:${'8'.repeat(8)} 123456`],
    ['id:7 ', 'err:123456'],
    ['id:7 ', 'submit date:123456 text:x'],
    ['', `id:${TEXT} stat:DELIVRD`],
    ['', ` id:7 ${TEXT}`],
  ])('of a receipt keeps %j and masks %j', (kept, masked) => {
    expect(shownText(kept + masked)).toBe(kept + '*'.repeat(masked.length));
  });

  it('has nothing of a receipt but its first fields, whatever else it says', () => {
    const fields = [
      'id:0123456789',
      'sub:001',
      'dlvrd:001',
      'submit date:2601010000',
      'done date:2601010000',
      'stat:DELIVRD',
      'err:000',
    ];
    const quotes = ['text:', 'text :', 'Text:'];
    const labels = [...quotes, 'msg:', 'id:', 'err:', 'stat:', 'sub:', 'done date:', ''];
    const secrets = ['987654', TEXT, `${TEXT}.`, '654321 is your code'];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(fields, { minLength: 1 }),
        fc.constantFrom(...labels),
        fc.constantFrom(' ', ''),
        fc.constantFrom(...secrets),
        fc.string({ maxLength: 20 }),
        (first, label, space, secret, rest) => {
          // An id may be any digits, so those behind the first `id:` are one.
          fc.pre(label !== 'id:' || first.includes('id:0123456789'));
          const kept = `${first.join(' ')} ${space}${quotes.includes(label) ? label : ''}`;
          const text = `${first.join(' ')} ${space}${label}${secret} ${rest}`;
          expect(shownText(text)).toBe(kept + '*'.repeat(text.length - kept.length));
        },
      ),
    );
  });

  it('has no header where the octets are no elements of one', () => {
    const octets = message({ esmClass: uint8(0x40), text: counted(`\u0010${TEXT}`) }, [], ID.deliver_sm);
    expect(redacted(octets).includes(TEXT.slice(0, 8))).toBe(false);
  });

  it('treats a text as a receipt by its content, not by esm_class alone', () => {
    const octets = message({ esmClass: uint8(0x04), text: counted(TEXT) }, [], ID.deliver_sm);
    expect(redacted(octets).includes(TEXT)).toBe(false);
  });

  const HEADED = '\u0005\u0000\u0003abc';
  const ID_TLV = tlv(0x001e, Buffer.from('7\0'));
  const STATE_TLV = tlv(0x0427, Buffer.from([2]));
  const packed = (text: string, fillBits = 0): string => packSeptets(Buffer.from(text), fillBits).toString('latin1');
  const textWithTexts = (text: string, esmClass: number, tlvs: Buffer[] = []): string => {
    const parts = { esmClass: uint8(esmClass), text: counted(Buffer.from(text, 'latin1')) };
    const { fields } = decodePdu(redacted(message(parts, tlvs, ID.deliver_sm), true)) as {
      fields: { shortMessage: Buffer };
    };
    return fields.shortMessage.toString('latin1');
  };

  it.each([
    [0x04, 'id:7 stat:DELIVRD err:000 text:', '123456 is your code'],
    [0x04, 'id:7 stat:DELIVRD err:000 text:', '313233343536'],
    [0x04, 'id:7 stat:DELIVRD err:000 text:', '020123456 is your code'],
    [0x04, 'id:123456 stat:DELIVRD ', 'msg 123456'],
    [0x04, 'id:7 stat:DELIVRD text:', '\u00b1\u0019\u00cdV\u00b3\u0001'],
    [0x04, '', 'sent 1234567 and 12345'],
    [0x20, '', '123456 is on its way'],
    [0x08, '', '123456 was read'],
    [0x10, 'id:7 ', 'yes, 123456'],
    [0x00, 'id:7 stat:DELIVRD err:000 text:', '123456 is your code'],
    [0x40, 'id:7 stat:DELIVRD err:000 text:', '123456'],
    [0x40, `${HEADED}id:7 stat:DELIVRD text:`, '123456'],
    [0x44, `${HEADED}id:7 stat:DELIVRD text:`, '123456'],
    [0x00, 'stat:DELIVRD ', '123456'],
    [0x00, '', '123456 is your code id:7 stat:DELIVRD'],
    [0x00, '', '\u0000i\u0000d\u0000:\u00007\u0000 123456'],
    [0x00, '', packed('id:7 stat:DELIVRD text:123456')],
    [0x40, HEADED, packed('id:7 stat:DELIVRD text:123456', 1)],
  ])(
    'of a receipt has its fields alone while texts are kept, with esm_class %i: %j, and masked %j',
    (esm, kept, masked) => {
      expect(textWithTexts(kept + masked, esm)).toBe(kept + '*'.repeat(masked.length));
    },
  );

  it.each([
    ['receipted_message_id', ID_TLV],
    ['message_state', STATE_TLV],
  ])('has no text while texts are kept when %s marks it as a receipt', (_, mark) => {
    expect(textWithTexts('Delivered: 123456 is your Acme', 0, [mark])).toBe('*'.repeat(30));
    const payload = tlv(0x0424, Buffer.from(TEXT));
    const other = tlv(0x1501, Buffer.from(TEXT));
    for (const tlvs of [
      [payload, other, mark],
      [mark, other, payload],
    ]) {
      const shown = redacted(message({ text: counted('') }, tlvs, ID.deliver_sm), true);
      expect(shown.includes('123456')).toBe(false);
      expect(shown.subarray(16).includes(mark)).toBe(true);
    }
  });

  it.each(['My code is 123456, text:654321', 'State: CA', 'AUTH-ACME-0123456789ABCDEF'])(
    'has its text while texts are kept when it is no receipt: %j',
    (text) => expect(textWithTexts(text, 0)).toBe(text),
  );

  it('has no unreadable rest of a receipt while texts are kept', () => {
    const cut = Buffer.from([0x14, 0x01, 0x00, 0xff, ...Buffer.from('stat:DELIVRD text:123456')]);
    expect(redacted(message({}, [cut], ID.deliver_sm), true).includes('123456')).toBe(false);
  });

  it('has no status text unless texts are kept, and an answer to a message that text without digits', () => {
    const [status, vendor] = [tlv(0x001d, Buffer.from('Refused: 123456\0')), tlv(0x1501, Buffer.from('123456 x'))];
    for (const keepText of [false, true]) {
      const report = redacted(message({ esmClass: uint8(4) }, [status, vendor], ID.deliver_sm), keepText);
      expect(report.includes('Refused')).toBe(false);
      const answer = redacted(pdu(RESP + ID.submit_sm, 1, [Buffer.from('id\0'), status, vendor]), keepText);
      expect(answer.includes('Refused: ******')).toBe(true);
      expect([answer.includes('123456'), answer.includes('****** x')]).toEqual([false, keepText]);
    }
  });

  it('of a receipt in message_payload has no code while texts are kept, with esm_class 0 too', () => {
    const quoted = tlv(0x0424, Buffer.from('id:7 stat:DELIVRD err:000 text:123456'));
    const carried = redacted(message({ text: counted('') }, [quoted], ID.deliver_sm), true);
    expect(carried.includes('text:******')).toBe(true);
  });

  it('has no body when the command is unknown', () => {
    const octets = pdu(0x4000, 1, [Buffer.from(TEXT)]);
    expect(redacted(octets).includes(TEXT)).toBe(false);
    expect(redacted(octets).subarray(0, 16)).toEqual(octets.subarray(0, 16));
    expect(redacted(octets, true)).toEqual(octets);
  });

  it('keeps its header and its length for every command', () => {
    const anyId = fc.constantFrom(...Object.values(ID));
    fc.assert(
      fc.property(anyId, fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), (id, parts) => {
        const octets = pdu(id, 1, parts);
        for (const keepText of [false, true]) {
          const shown = redacted(octets, keepText);
          expect(shown).toHaveLength(octets.length);
          expect(shown.subarray(0, 16)).toEqual(octets.subarray(0, 16));
        }
      }),
    );
  });
});
