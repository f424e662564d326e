import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePdu } from '../codec/decode.js';
import { bind as bindOf, counted, ID, message, pdu, TEXT, tlv, uint8 } from '../codec/octets.fixture.js';
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

  it('treats a text as a receipt by its content, not by esm_class alone', () => {
    const octets = message({ esmClass: uint8(0x04), text: counted(TEXT) }, [], ID.deliver_sm);
    expect(redacted(octets).includes(TEXT)).toBe(false);
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
