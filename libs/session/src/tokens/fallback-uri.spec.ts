import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fallbackText, fallbackUri } from './fallback-uri.js';

const TOKEN = '7K9M2P4R6T8W0Y1A';

describe('fallbackUri', () => {
  it('is exactly the sms: link of the contract', () => {
    const text = fallbackText('ACME', TOKEN, "Don't edit (please)! 100% *free* + safe");
    expect(fallbackUri('+14155550100', text)).toBe(
      'sms:+14155550100?body=AUTH-ACME-7K9M2P4R6T8W0Y1A%0ADon%27t%20edit%20%28please%29%21%20100%25%20%2Afree%2A%20%2B%20safe',
    );
  });

  it('keeps a short code unchanged', () => {
    expect(fallbackUri('60606', 'AUTH')).toBe('sms:60606?body=AUTH');
  });

  it('leaves only letters, digits and -_.~ unescaped, in upper-case hex, and decodes to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const body = fallbackUri('+1', text).slice('sms:+1?body='.length);
        expect(body).toMatch(/^(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(body)).toBe(text);
      }),
    );
  });
});
