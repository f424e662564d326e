import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFallbackUri, platformSmsUri, smsQrText } from './fallback-uri.js';

const URI = 'sms:+14155550199?body=AUTH-ACME-7Q2M9XK4T1V8C3ZB%0ASend%20this%20to%20sign%20in%21';
const TEXT = 'AUTH-ACME-7Q2M9XK4T1V8C3ZB\nSend this to sign in!';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36';
const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** As written by the service (contract, Token). */
const number = fc.oneof(fc.stringMatching(/^\+[1-9]\d{6,14}$/), fc.stringMatching(/^\d{3,8}$/));
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

describe('parseFallbackUri', () => {
  it('has the number and the text for the phone', () => {
    expect(parseFallbackUri(URI)).toEqual({ number: '+14155550199', text: TEXT });
    expect(parseFallbackUri('sms:24365?body=AUTH-A1-7Q2M')).toEqual({ number: '24365', text: 'AUTH-A1-7Q2M' });
  });

  it('is parsed in every form that the service writes, and in each platform form', () => {
    fc.assert(
      fc.property(number, fc.string({ unit: 'grapheme', minLength: 1 }), (to, text) => {
        const uri = `sms:${to}?body=${encode(text)}`;
        expect(parseFallbackUri(uri)).toEqual({ number: to, text });
        for (const agent of [IPHONE, ANDROID]) {
          expect(parseFallbackUri(platformSmsUri(uri, agent))).toEqual({ number: to, text });
        }
      }),
    );
  });

  it('gives a result for every text', () => {
    const near = fc.string({
      unit: fc.constantFrom('sms:', '+', '1415555', '?', '&', 'body=', '%', '%0', 'A', ' ', ';'),
    });
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (uri) => {
        const message = parseFallbackUri(uri);
        if (message !== null) expect(`sms:${message.number}`).toBe(uri.split(/[?&]/)[0]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '',
    'javascript:alert(1)',
    'SMS:+14155550199?body=A',
    'sms:?body=A',
    'sms:+14155550199',
    'sms:+14155550199?body=',
    'sms:+14155550199?body=A&body=B',
    'sms:+14155550199,+14155550100?body=A',
    'sms:+14155550199?subject=A&body=B',
    'sms:+14155550199?body=%',
    'sms:+14155550199?body=%E2%82',
    'sms:+14155550199?body=A"><script>',
    'sms:+14155550199?body=A+B',
    ' sms:+14155550199?body=A',
    'sms:+14155550199?body=A\n',
  ])('gives null for %j', (uri) => {
    expect(parseFallbackUri(uri)).toBeNull();
  });
});

describe('platformSmsUri', () => {
  it.each([
    ['an iPhone', IPHONE],
    ['an iPad', IPAD],
    ['an iPad that identifies as a Macintosh', MAC],
  ])('gives %s the text after &', (_name, agent) => {
    expect(platformSmsUri(URI, agent)).toBe(URI.replace('?', '&'));
  });

  it.each([
    ['an Android phone', ANDROID],
    ['Windows', WINDOWS],
    ['an empty user agent', ''],
  ])('gives %s the standard link', (_name, agent) => {
    expect(platformSmsUri(URI, agent)).toBe(URI);
    expect(platformSmsUri(URI.replace('?', '&'), agent)).toBe(URI);
  });

  it('creates no link from any other text', () => {
    expect(() => platformSmsUri('javascript:alert(1)', ANDROID)).toThrow(TypeError);
    expect(() => smsQrText('https://example.com')).toThrow(TypeError);
  });
});

describe('smsQrText', () => {
  it('is the message in the form that cameras read', () => {
    expect(smsQrText(URI)).toBe(`SMSTO:+14155550199:${TEXT}`);
  });
});
