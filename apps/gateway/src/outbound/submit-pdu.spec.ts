import { decodePdu, encodePdu } from '@countersign/smpp';
import { decodeText } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relativeTime, senderAddress, submitPdu, type OutgoingText } from './submit-pdu.js';

const message: OutgoingText = {
  destination: '+14155552671',
  source: '+14155550100',
  text: '123456 is your Acme code. Do not share it.',
  validSeconds: 90,
};
const ALPHABETS = ['gsm', 'gsm-packed', 'latin1', 'ascii'] as const;

describe('the sender of a code', () => {
  it.each([
    ['+14155550100', { ton: 1, npi: 1, value: '14155550100' }],
    ['60606', { ton: 3, npi: 0, value: '60606' }],
    ['12345678', { ton: 3, npi: 0, value: '12345678' }],
    ['4155550100', { ton: 0, npi: 1, value: '4155550100' }],
    ['ACME', { ton: 5, npi: 0, value: 'ACME' }],
    ['Acme 24', { ton: 5, npi: 0, value: 'Acme 24' }],
  ])('%s is said to be what it is', (source, address) => {
    expect(senderAddress(source)).toEqual(address);
  });
});

describe('the submit of a code', () => {
  it('wants a receipt, and is worth nothing once its session is over', () => {
    expect(submitPdu(message, 'gsm').fields).toMatchObject({
      destinationAddress: { ton: 1, npi: 1, value: '14155552671' },
      registeredDelivery: 1,
      validityPeriod: '000000000130000R',
      esmClass: 0,
      dataCoding: 0,
    });
  });

  it.each([
    [1, '000000000001000R'],
    [60, '000000000100000R'],
    [300, '000000000500000R'],
    [3_661, '000000010101000R'],
  ])('%i seconds are %s', (seconds, time) => {
    expect(relativeTime(seconds)).toBe(time);
  });

  it('is in the alphabet of its bind, and in UCS-2 where that lacks a character', () => {
    const codings = ALPHABETS.map(
      (alphabet) => submitPdu({ ...message, text: 'Äpfel €5' }, alphabet).fields.dataCoding,
    );
    expect(codings).toEqual([0, 0, 8, 8]);
    expect(submitPdu({ ...message, text: 'Äpfel' }, 'latin1').fields.shortMessage).toEqual(
      Buffer.from('Äpfel', 'latin1'),
    );
    expect(submitPdu({ ...message, text: '@' }, 'gsm').fields.shortMessage).toEqual(Buffer.of(0));
  });

  it('reads as it was written, whatever the text and the alphabet', () => {
    const texts = fc.string({
      unit: fc.constantFrom(...Array.from('019 abzAZ@_$€[]äßÄéΩ.,:#\n')),
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(texts, fc.constantFrom(...ALPHABETS), (text, alphabet) => {
        const octets = encodePdu({ ...submitPdu({ ...message, text }, alphabet), sequence: 1 });
        const read = decodePdu(octets);
        if (read.command !== 'submit_sm') throw new Error('not a submit_sm');
        const { shortMessage, dataCoding } = read.fields;
        // A packed text whose last octet has seven bits to spare shows them as a trailing "@" (3GPP TS 23.038, 6.1.2.3.1).
        expect(decodeText(shortMessage, dataCoding, alphabet).replace(/@$/, '')).toBe(text.replace(/@$/, ''));
      }),
    );
  });
});
