import { decodePdu, encodePdu } from '@countersign/smpp/codec';
import { concatenationOf, messageOctets } from '@countersign/smpp/messages';
import { decodeText } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { submitPdu } from './submit-pdu.js';
import { textParts, type TextPart } from './text-parts.js';

const ALPHABETS = ['gsm', 'gsm-packed', 'latin1', 'ascii'] as const;
const envelope = {
  destination: '+14155552671',
  source: '60606',
  validSeconds: 90,
  expiresAt: new Date(0),
  brand: '',
  messageId: '',
};

/** Decodes and joins the parts as a phone does. */
function read(parts: readonly TextPart[], alphabet: (typeof ALPHABETS)[number]): string {
  return parts
    .map((part) => {
      const pdu = decodePdu(encodePdu({ ...submitPdu(envelope, part), sequence: 1 }));
      if (pdu.command !== 'submit_sm') throw new Error('not a submit_sm');
      return decodeText(messageOctets(pdu).octets, pdu.fields.dataCoding, alphabet);
    })
    .join('');
}

describe('the parts of a text', () => {
  it('use the alphabet of the bind, and UCS-2 when it lacks a character', () => {
    const codings = ALPHABETS.map((alphabet) => textParts('Äpfel €5', alphabet, 1)[0]?.dataCoding);
    expect(codings).toEqual([0, 0, 8, 8]);
    expect(textParts('Äpfel', 'latin1', 1)[0]?.shortMessage).toEqual(Buffer.from('Äpfel', 'latin1'));
    expect(textParts('@', 'gsm', 1)[0]?.shortMessage).toEqual(Buffer.of(0));
  });

  it('are one in UCS-2 up to 70 characters, and of 67 characters beyond', () => {
    const lengths = [70, 71, 134, 135].map((length) =>
      textParts('€'.repeat(length), 'ascii', 1).map(({ shortMessage }) => shortMessage.length),
    );
    expect(lengths).toEqual([[140], [140, 14], [140, 140], [140, 140, 8]]);
  });

  it('have a header each, and only the last requests a receipt', () => {
    const parts = textParts('€'.repeat(140), 'latin1', 0x7f);
    const pdus = parts.map((part) => submitPdu(envelope, part));
    expect(pdus.map(({ fields }) => [fields.esmClass, fields.registeredDelivery])).toEqual([
      [0x40, 0],
      [0x40, 0],
      [0x40, 1],
    ]);
    expect(pdus.map((pdu) => concatenationOf({ ...pdu, sequence: 1 }))).toEqual(
      [1, 2, 3].map((part) => ({ reference: 0x7f, referenceBits: 8, total: 3, part })),
    );
  });

  it('end in a carriage return where packed septets would leave seven unused bits', () => {
    const [part] = textParts('1234567', 'gsm-packed', 1);
    expect(part?.shortMessage.toString('hex')).toBe('31d98c56b3dd1a');
  });

  it('decode to the original text, for any text and alphabet', () => {
    const texts = fc.string({
      unit: fc.constantFrom(...Array.from('019 abzAZ@_$€[]äßÄéΩ.,:#\n😀')),
      minLength: 1,
      maxLength: 160,
    });
    fc.assert(
      fc.property(texts, fc.constantFrom(...ALPHABETS), fc.nat(255), (text, alphabet, reference) => {
        const parts = textParts(text, alphabet, reference);
        for (const { shortMessage, dataCoding } of parts)
          if (dataCoding === 8) expect(shortMessage.length).toBeLessThanOrEqual(140);
        // A packed text whose last septet is "@" may lose it (3GPP TS 23.038, 6.1.2.3.1).
        expect(read(parts, alphabet).replace(/@$/, '')).toBe(text.replace(/@$/, ''));
      }),
    );
  });
});
