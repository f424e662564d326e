import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskPeopleIn, maskUrlsIn, viewFor } from './people.js';

const phone = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.stringMatching(/^[0-9]{7,13}$/)).map(([a, b]) => `+${a}${b}`);

describe('a value without people', () => {
  it('keeps ids, times, addresses of hosts and numbers', () => {
    const value = {
      id: 'acct_01HF7YAT000000000000000001',
      at: '2026-01-31T12:00:00.000Z',
      hosts: [{ host: '203.0.113.5', port: 2775 }],
      enabled: true,
      until: null,
    };
    expect(maskPeopleIn(value)).toEqual(value);
  });

  it('has no metadata, and no address in any form', () => {
    const value = {
      metadata: { email: 'a@b.example' },
      source: '4155552671',
      destination: '60606',
      phone: '+14155552671',
    };
    expect(maskPeopleIn(value)).toEqual({
      metadata: {},
      source: '415*****71',
      destination: '***06',
      phone: '+141******71',
    });
  });

  it.each([
    ['+14155552671', '+141******71'],
    [Buffer.from('to 14155552671').toString('hex'), Buffer.from('to 141******71').toString('hex')],
    ['14155552671012', '141*********12'],
    [14155552671, '141******71'],
    [70_000, 70_000],
    ['deadbeefdeadbeef', 'deadbeefdeadbeef'],
    ['1701158019811140068', '1701158019811140068'],
  ])('has no phone in the value of a TLV: %s', (value, masked) => {
    expect(maskPeopleIn({ tlvs: [{ tag: '0x1400', type: 'hex', value }] })).toEqual({
      tlvs: [{ tag: '0x1400', type: 'hex', value: masked }],
    });
  });

  it('contains no phone, wherever it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), phone, fc.lorem({ maxCount: 3 }), (value, number, words) => {
        const state = { before: value, reason: `${words} ${number} ${words}`, list: [[{ phone: number }], number] };
        const masked = JSON.stringify(maskPeopleIn(state));
        expect(masked).not.toContain(number);
        expect(masked).not.toContain(number.slice(1));
      }),
    );
  });
});

describe('a URL', () => {
  it.each([
    ['https://acme.example/hooks', 'https://acme.example/hooks'],
    ['https://acme.example:8443/hooks/a-b?token=s3cret&v=2', 'https://acme.example:8443/hooks/a-b?token=***&v=***'],
    ['https://acme.example/?s3cret', 'https://acme.example/?***'],
    ['https://acme.example/?a=b=c?d', 'https://acme.example/?a=***'],
    ['https://user:s3cret@acme.example/hooks', 'https://***@acme.example/hooks'],
    ['https://acme.example/hooks#s3cret', 'https://acme.example/hooks#***'],
    [
      'HTTP://acme.example?t=s3cret and https://b.example/?t=s3cret.',
      'HTTP://acme.example?t=*** and https://b.example/?t=***',
    ],
    ['"https://acme.example/?t=s3cret"', '"https://acme.example/?t=***"'],
    ['is 5 > 3 ? yes', 'is 5 > 3 ? yes'],
  ])('%s is shown as %s', (text, masked) => expect(maskUrlsIn(text)).toBe(masked));

  it('keeps no value of its query, and remains a URL', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: false }), fc.stringMatching(/^[0-9a-f]{24}$/), (base, token) => {
        const masked = maskUrlsIn(`${base}?a=1&token=${token}`);
        expect(masked).toBe(`${base}?a=***&token=***`);
        expect(new URL(masked).href).toBe(new URL(`${base}?a=***&token=***`).href);
        expect(JSON.stringify(maskPeopleIn({ before: { url: `${base}?${token}` } }))).not.toContain(token);
      }),
    );
  });
});

describe('a view', () => {
  it.each([
    ['viewer', 'masked'],
    ['support', 'full'],
    ['operator', 'full'],
    ['owner', 'full'],
  ] as const)('for %s is %s', (role, expected) => {
    expect(
      viewFor(
        role,
        () => 'full',
        () => 'masked',
      )(null),
    ).toBe(expected);
  });
});
