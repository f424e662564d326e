import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSmsUri, smsUriOfHash } from './page/sms-uri.mjs';

const TOKEN = 'AUTH-ACME-0123456789ABCDEF';
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const number = fc.stringMatching(/^(\+[1-9][0-9]{6,14}|[1-9][0-9]{3,7})$/);
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 160 });

describe('an sms: URI', () => {
  it('gives the number and the text that the phone is to send', () => {
    expect(parseSmsUri(`sms:+14155550199?body=${TOKEN}%0ASend%20this%20text.`)).toEqual({
      number: '+14155550199',
      text: `${TOKEN}\nSend this text.`,
    });
  });

  it.each(['sms:+14155550199&body=Hi', 'sms:+14155550199;body=Hi', 'SMSTO:+1%20(415)%20555-0199?&body=Hi'])(
    'is read as phones write it: %s',
    (uri) => expect(parseSmsUri(uri)).toEqual({ number: '+14155550199', text: 'Hi' }),
  );

  it('may go to a short code, and without a text', () => {
    expect(parseSmsUri(' sms:24365 ')).toEqual({ number: '24365', text: '' });
  });

  it.each(['', 'sms:', 'tel:+14155550199', 'sms:Acme?body=x', 'sms:+1,+2?body=x', 'sms:+14155550199?body=%zz'])(
    'is refused when it is none, or goes to nobody or several: %j',
    (uri) => expect(parseSmsUri(uri)).toBeNull(),
  );

  it('is refused when it asks for two texts', () => {
    expect(parseSmsUri('sms:+14155550199?body=a&body=b')).toBeNull();
  });

  it('carries any text unchanged', () => {
    fc.assert(
      fc.property(number, text, (to, body) => {
        expect(parseSmsUri(`sms:${to}?body=${encode(body)}`)).toEqual({ number: to, text: body });
      }),
    );
  });

  it('never makes the page fail, whatever was pasted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (pasted) => {
        parseSmsUri(`sms:${pasted}`);
        smsUriOfHash(`#${pasted}`);
      }),
    );
  });
});

describe('the address of the page', () => {
  const uri = `sms:+14155550199?body=${TOKEN}%0AHi`;

  it('may end with an sms: URI, as it is or encoded once more', () => {
    expect(smsUriOfHash(`#${uri}`)).toBe(uri);
    expect(smsUriOfHash(`#${encodeURIComponent(uri)}`)).toBe(uri);
  });

  it('asks for nothing otherwise', () => {
    expect(smsUriOfHash('')).toBeNull();
    expect(smsUriOfHash('#top')).toBeNull();
    expect(smsUriOfHash('#%')).toBeNull();
  });
});
