import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPhone, senderCandidates } from './index.js';

const candidates = (ton: number, value: string, country: string | null = 'US', npi = 1): string[] =>
  senderCandidates({ ton, npi, value }, country);

describe('international senders (TON 1)', () => {
  it.each(['14155552671', '+14155552671', '0014155552671'])('%s is +14155552671', (value) => {
    expect(candidates(1, value)).toEqual(['+14155552671']);
    expect(candidates(1, value, null)).toEqual(['+14155552671']);
  });

  it('a trunk zero behind the country code is dropped where the plan has one, kept where it is part of the number', () => {
    expect(candidates(1, '4407911123456')).toEqual(['+447911123456']);
    expect(candidates(1, '390612345678')).toEqual(['+390612345678']);
  });

  it.each(['12345', '123456', '07911123456', '999155552671', '2100000000', '1234567890123456'])(
    '%s is no international number',
    (value) => expect(candidates(1, value, 'GB')).toEqual([]),
  );
});

describe('national senders (TON 2)', () => {
  it.each([
    ['4155552671', 'US', '+14155552671'],
    ['14155552671', 'US', '+14155552671'],
    ['4165550123', 'US', '+14165550123'],
    ['07911123456', 'GB', '+447911123456'],
    ['7911123456', 'GB', '+447911123456'],
    ['015112345678', 'DE', '+4915112345678'],
    ['0612345678', 'IT', '+390612345678'],
    ['89161234567', 'RU', '+79161234567'],
  ])('%s in %s is %s', (value, country, expected) => expect(candidates(2, value, country)).toEqual([expected]));

  it('has no candidate where the receiving number has no country, or the number none of its plan', () => {
    expect(candidates(2, '4155552671', null)).toEqual([]);
    expect(candidates(2, '4155552671', '001')).toEqual([]);
    expect(candidates(2, '4155552671', 'XX')).toEqual([]);
    expect(candidates(2, '0155552671', 'US')).toEqual([]);
  });

  it('stays in its country: an international prefix contradicts the type', () => {
    expect(candidates(2, '0114915112345678', 'US')).toEqual([]);
  });

  it('a plus sign wins over the type', () => {
    expect(candidates(2, '+4915112345678', 'US')).toEqual(['+4915112345678']);
  });
});

describe('senders of unknown type (TON 0)', () => {
  it('reads a valid international number first', () => {
    expect(candidates(0, '4915112345678', 'US')).toEqual(['+4915112345678']);
    expect(candidates(0, '004915112345678', 'US')).toEqual(['+4915112345678']);
  });

  it('then the national one', () => {
    expect(candidates(0, '4155552671', 'US')).toEqual(['+14155552671']);
    expect(candidates(0, '07911123456', 'GB')).toEqual(['+447911123456']);
  });

  it('offers both where both are numbers: Budapest, or Corpus Christi', () => {
    expect(candidates(0, '3614567890', 'US')).toEqual(['+3614567890', '+13614567890']);
  });

  it('does not read a number of the receiving country a second time as another one of it', () => {
    expect(candidates(2, '4915112345678', 'DE')).toEqual(['+494915112345678']);
    expect(candidates(0, '4915112345678', 'DE')).toEqual(['+4915112345678']);
  });

  it('without a receiving country only the international reading is left', () => {
    expect(candidates(0, '4155552671', null)).toEqual([]);
  });
});

describe('what never matches', () => {
  it.each([
    [5, 'Countersign'],
    [5, '14155552671'],
    [0, 'ACME'],
    [1, '1415555267A'],
    [0, ''],
    [0, '+'],
    [0, ' 14155552671'],
    [0, '12345'],
    [3, '12345'],
    [3, '14155552671'],
    [4, '5552671'],
    [6, '14155552671'],
    [255, '14155552671'],
    [0, '١٤١٥٥٥٥٢٦٧١'],
  ])('TON %i, "%s"', (ton, value) => expect(candidates(ton, value)).toEqual([]));

  it('the end of a number: a shorter sender never yields the whole', () => {
    const full = '14155552671';
    for (let cut = 2; cut < full.length; cut += 1) {
      for (const ton of [0, 1, 2]) expect(candidates(ton, full.slice(cut))).not.toContain(`+${full}`);
    }
  });
});

describe('whatever arrives', () => {
  it('every candidate is E.164, distinct, and of an unknown or national sender routable', () => {
    const value = fc.oneof(fc.string({ maxLength: 25 }), fc.stringMatching(/^(\+|00|0)?[0-9]{3,17}$/));
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.nat(255),
        value,
        fc.constantFrom('US', 'DE', 'IT', '001', null),
        (ton, npi, text, country) => {
          const found = senderCandidates({ ton, npi, value: text }, country);
          expect(new Set(found).size).toBe(found.length);
          for (const candidate of found) {
            expect(candidate).toMatch(/^\+[1-9][0-9]{6,14}$/);
            if (ton === 0 && !text.startsWith('+')) expect(checkPhone(candidate).ok).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a routable number sent as international is its own only candidate', () => {
    const known = [
      '+14155552671',
      '+4915112345678',
      '+447911123456',
      '+390612345678',
      '+5491123456789',
      '+80012345678',
    ];
    for (const phone of known) expect(candidates(1, phone.slice(1))).toEqual([phone]);
  });
});
