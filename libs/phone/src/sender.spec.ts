import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkPhone,
  isOfUnknownFormat,
  readSender,
  SENDER_FORMATS,
  SENDER_READINGS,
  type SenderEvidence,
  type SenderRule,
} from './index.js';

const AUTO: SenderRule = { format: 'auto', learned: null };
const INTERNATIONAL: SenderRule = { format: 'international', learned: null };
const NATIONAL: SenderRule = { format: 'national', learned: null };
const NONE: SenderEvidence = { phone: null, ambiguous: false, shows: null };
const AMBIGUOUS: SenderEvidence = { phone: null, ambiguous: true, shows: null };

const evidence = (ton: number, value: string, country: string | null = 'US', rule = AUTO, npi = 1): SenderEvidence =>
  readSender({ ton, npi, value }, country, rule);
const phone = (...address: Parameters<typeof evidence>): string | null => evidence(...address).phone;

describe('international senders (TON 1)', () => {
  it.each(['14155552671', '+14155552671', '0014155552671'])('%s is +14155552671', (value) => {
    for (const country of ['US', null]) {
      expect(evidence(1, value, country)).toEqual({ ...NONE, phone: '+14155552671' });
    }
  });

  it('lose a trunk zero after the country code if the plan has one, and keep it if it is part of the number', () => {
    expect(phone(1, '4407911123456')).toBe('+447911123456');
    expect(phone(1, '390612345678')).toBe('+390612345678');
  });

  it.each(['12345', '123456', '07911123456', '999155552671', '2100000000', '1234567890123456'])(
    '%s is not an international number',
    (value) => expect(evidence(1, value, 'GB')).toEqual(NONE),
  );

  it.each(['+14155552671', '+4915112345678', '+447911123456', '+390612345678', '+5491123456789', '+80012345678'])(
    '%s is unchanged',
    (known) => expect(phone(1, known.slice(1))).toBe(known),
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
    ['4915112345678', 'DE', '+494915112345678'],
  ])('%s in %s is %s', (value, country, expected) => expect(phone(2, value, country)).toBe(expected));

  it('are none when the receiving number has no country, or the number is not in its plan', () => {
    expect(evidence(2, '4155552671', null)).toEqual(NONE);
    expect(evidence(2, '4155552671', '001')).toEqual(NONE);
    expect(evidence(2, '4155552671', 'XX')).toEqual(NONE);
    expect(evidence(2, '0155552671', 'US')).toEqual(NONE);
  });

  it('stay in their country: an international prefix contradicts the type', () => {
    expect(evidence(2, '0114915112345678', 'US')).toEqual(NONE);
  });

  it('are international with a plus sign', () => {
    expect(phone(2, '+4915112345678', 'US')).toBe('+4915112345678');
  });
});

describe('senders of unknown type (TON 0) on a link of format auto', () => {
  it('are the number that only one of the readings gives, and show that reading', () => {
    expect(evidence(0, '4915112345678', 'US')).toEqual({
      phone: '+4915112345678',
      ambiguous: false,
      shows: 'international',
    });
    expect(evidence(0, '4155552671', 'US')).toEqual({ phone: '+14155552671', ambiguous: false, shows: 'national' });
    expect(evidence(0, '07911123456', 'GB')).toEqual({ phone: '+447911123456', ambiguous: false, shows: 'national' });
  });

  it.each([
    ['+6592345678 and +16592345678', '6592345678', 'US'],
    ['Budapest and Corpus Christi', '3614567890', 'US'],
    ['a mobile and a fixed line of Germany', '4915112345678', 'DE'],
  ])('are ambiguous when they may be %s', (_, value, country) =>
    expect(evidence(0, value, country)).toEqual(AMBIGUOUS),
  );

  it('show nothing when both readings give the same number', () => {
    expect(evidence(0, '14155552671', 'US')).toEqual({ ...NONE, phone: '+14155552671' });
  });

  it('are international with a plus or 00, whatever the format, and show nothing', () => {
    for (const rule of [AUTO, INTERNATIONAL, NATIONAL, { format: 'auto', learned: 'national' } as const]) {
      for (const prefix of ['+', '00']) {
        expect(evidence(0, `${prefix}6592345678`, 'US', rule)).toEqual({ ...NONE, phone: '+6592345678' });
      }
    }
  });

  it('have no national reading without a receiving country, and then show nothing', () => {
    for (const country of [null, '001', 'XX']) {
      expect(evidence(0, '4155552671', country)).toEqual(NONE);
      expect(evidence(0, '4915112345678', country)).toEqual({ ...NONE, phone: '+4915112345678' });
    }
  });
});

describe('senders of unknown type (TON 0) on a link of format auto, with several possible receiving countries', () => {
  const among = (value: string, possible: readonly string[], rule = AUTO): SenderEvidence =>
    readSender({ ton: 0, npi: 1, value }, null, rule, possible);

  it('are ambiguous when they are another number in one of them', () => {
    // A number of Arkansas as dialled there, or a mobile number of Norway.
    expect(among('4792345678', ['US', 'CA'])).toEqual(AMBIGUOUS);
    expect(among('4792345678', ['DE', 'US'])).toEqual(AMBIGUOUS);
  });

  it('are international when they are no other number in any, and show nothing', () => {
    expect(among('4792345678', ['GB', 'IE'])).toEqual({ ...NONE, phone: '+4792345678' });
    expect(among('14155552671', ['US', 'CA'])).toEqual({ ...NONE, phone: '+14155552671' });
    expect(among('4155552671', ['US', 'CA'])).toEqual(NONE);
  });

  it('are parsed by the format if one is set or learned', () => {
    expect(among('4792345678', ['US'], INTERNATIONAL).phone).toBe('+4792345678');
    expect(among('4792345678', ['US'], { format: 'auto', learned: 'international' }).phone).toBe('+4792345678');
    expect(among('4792345678', ['US'], NATIONAL)).toEqual(NONE);
  });
});

describe('senders of unknown type (TON 0) on a link with a configured format', () => {
  it('have only that reading', () => {
    expect(evidence(0, '6592345678', 'US', INTERNATIONAL)).toEqual({ ...NONE, phone: '+6592345678' });
    expect(evidence(0, '6592345678', 'US', NATIONAL)).toEqual({ ...NONE, phone: '+16592345678' });
    expect(evidence(0, '4155552671', 'US', INTERNATIONAL)).toEqual(NONE);
    expect(evidence(0, '4915112345678', 'US', NATIONAL)).toEqual(NONE);
    expect(evidence(0, '6592345678', null, NATIONAL)).toEqual(NONE);
  });
});

describe('senders of unknown type (TON 0) on a link with a learned format', () => {
  const learned = (reading: 'international' | 'national'): SenderRule => ({ format: 'auto', learned: reading });

  it('are parsed in that format', () => {
    expect(evidence(0, '6592345678', 'US', learned('international'))).toEqual({ ...NONE, phone: '+6592345678' });
    expect(evidence(0, '6592345678', 'US', learned('national'))).toEqual({ ...NONE, phone: '+16592345678' });
  });

  it('contradict it when only the other reading is a number, and are then no evidence', () => {
    expect(evidence(0, '4155552671', 'US', learned('international'))).toEqual({ ...AMBIGUOUS, shows: 'national' });
    expect(evidence(0, '4915112345678', 'US', learned('national'))).toEqual({ ...AMBIGUOUS, shows: 'international' });
  });

  it('neither contradict it nor are evidence when neither reading is a number, or the country is unknown', () => {
    expect(evidence(0, '12345', 'US', learned('international'))).toEqual(NONE);
    expect(evidence(0, '4915112345678', null, learned('national'))).toEqual(NONE);
    expect(evidence(0, '4155552671', null, learned('international'))).toEqual(NONE);
  });
});

describe('senders that never match', () => {
  it.each([
    [5, 'Countersign'],
    [5, '14155552671'],
    [5, '+14155552671'],
    [5, '+4791234567'],
    [3, '+14155552671'],
    [6, '+14155552671'],
    [4, '0014155552671'],
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
  ])('TON %i, "%s"', (ton, value) => {
    for (const format of SENDER_FORMATS) expect(evidence(ton, value, 'US', { format, learned: null })).toEqual(NONE);
  });

  it.each([
    [3, 'X.121'],
    [4, 'telex'],
    [6, 'an IMSI'],
    [10, 'a pager'],
    [14, 'IP'],
    [18, 'WAP'],
  ])('NPI %i: %s', (npi) => {
    for (const ton of [0, 1, 2]) expect(evidence(ton, '+14155552671', 'US', AUTO, npi)).toEqual(NONE);
    expect(evidence(1, '14155552671', 'US', AUTO, npi)).toEqual(NONE);
  });

  it('a numbering plan that carriers fill inconsistently is ignored', () => {
    for (const npi of [0, 1, 8, 9, 2, 255]) expect(phone(1, '14155552671', 'US', AUTO, npi)).toBe('+14155552671');
  });

  it('the end of a number: a shorter sender never gives the whole number', () => {
    const full = '14155552671';
    for (let cut = 2; cut < full.length; cut += 1) {
      for (const ton of [0, 1, 2]) expect(phone(ton, full.slice(cut))).not.toBe(`+${full}`);
    }
  });
});

describe('any sender', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 25 }),
    fc.stringMatching(/^(\+|00|0)?[0-9]{3,17}$/),
    // North American numbers, one in ten of which is also a number of another country.
    fc.stringMatching(/^(\+|00)?(1)?(479|65[89]|678|220|646|415)[2-9][0-9]{6}$/),
  );
  const country = fc.constantFrom('US', 'DE', 'IT', 'SG', 'NO', '001', 'XX', null);
  const rule = fc.record({
    format: fc.constantFrom(...SENDER_FORMATS),
    learned: fc.constantFrom(null, ...SENDER_READINGS),
  });
  const npi = fc.nat(255);

  it('a type of number above 2 is no evidence under any format', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 255 }), npi, value, country, rule, (ton, plan, text, where, by) => {
        expect(readSender({ ton, npi: plan, value: text }, where, by)).toEqual(NONE);
      }),
    );
  });

  it('letters are never evidence', () => {
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.stringMatching(/^\+?[0-9]{0,12}[A-Za-z][0-9]{0,12}$/),
        country,
        rule,
        (ton, text, where, by) => {
          expect(readSender({ ton, npi: 1, value: text }, where, by)).toEqual(NONE);
        },
      ),
    );
  });

  it('a phone is E.164, routable if its type is unknown or national, and never returned with an ambiguity', () => {
    fc.assert(
      fc.property(fc.nat(4), npi, value, country, rule, (ton, plan, text, where, by) => {
        const found = readSender({ ton, npi: plan, value: text }, where, by);
        if (found.ambiguous) expect(found.phone).toBeNull();
        if (found.phone === null) return;
        expect(found.phone).toMatch(/^\+[1-9][0-9]{6,14}$/);
        if (ton !== 1 && !text.startsWith('+')) expect(checkPhone(found.phone).ok).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('auto gives a number only if no fixed format gives another one', () => {
    fc.assert(
      fc.property(value, country, (text, where) => {
        const address = { ton: 0, npi: 1, value: text };
        const fixed = [INTERNATIONAL, NATIONAL].map((each) => readSender(address, where, each).phone);
        const numbers = new Set(fixed.filter((each) => each !== null));
        const found = readSender(address, where, AUTO);
        expect(found.phone).toBe(numbers.size === 1 ? [...numbers][0] : null);
        expect(found.ambiguous).toBe(numbers.size === 2);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the learned format only selects one of the two readings', () => {
    fc.assert(
      fc.property(value, country, fc.constantFrom(...SENDER_READINGS), (text, where, learned) => {
        const address = { ton: 0, npi: 1, value: text };
        const found = readSender(address, where, { format: 'auto', learned });
        expect(found.phone).toBe(readSender(address, where, { format: learned, learned: null }).phone);
        if (found.shows !== null)
          expect([found.phone, found.ambiguous, found.shows === learned]).toEqual([null, true, false]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('only senders of unknown format show a reading, and only in auto', () => {
    fc.assert(
      fc.property(fc.nat(4), npi, value, country, rule, (ton, plan, text, where, by) => {
        const address = { ton, npi: plan, value: text };
        if (readSender(address, where, by).shows === null) return;
        expect([isOfUnknownFormat(address), by.format]).toEqual([true, 'auto']);
      }),
    );
  });
});
