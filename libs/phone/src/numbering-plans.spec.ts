import fc from 'fast-check';
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { countryByPlan } from './numbering-plans.js';
import { checkByLibrary } from './phone-check.js';

const CODES = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))];
const MOBILES = getCountries().map((country) => `+${getCountryCallingCode(country)}${examples[country]}`);

/** The country by the library; null where it does not accept the number. */
function expectAgreement(e164: string): boolean {
  const country = countryByPlan(e164);
  if (country !== null) expect([e164, checkByLibrary(e164)]).toEqual([e164, { ok: true, e164, country }]);
  return country !== null;
}

describe('the country by numbering plans', () => {
  it('is that of the library for a mobile number of every country, and known for nearly all of them', () => {
    const known = MOBILES.filter(expectAgreement);
    expect(known.length / MOBILES.length).toBeGreaterThan(0.95);
  });

  it('is that of the library for numbers near to mobile ones', () => {
    const digit = fc.integer({ min: 0, max: 9 });
    const near = fc
      .tuple(fc.constantFrom(...MOBILES), fc.array(fc.tuple(fc.nat(14), digit), { maxLength: 6 }))
      .map(([mobile, changes]) => {
        const digits = Array.from(mobile);
        for (const [at, to] of changes) if (at > 0 && at < digits.length) digits[at] = String(to);
        return digits.join('');
      });
    fc.assert(
      fc.property(near, (e164) => void expectAgreement(e164)),
      { numRuns: 20_000 },
    );
  });

  it('is that of the library for any digits after a country code', () => {
    const any = fc
      .tuple(fc.constantFrom(...CODES), fc.stringMatching(/^[0-9]{1,12}$/))
      .map(([code, rest]) => `+${code}${rest}`);
    fc.assert(
      fc.property(any, (e164) => void expectAgreement(e164)),
      { numRuns: 20_000 },
    );
  });

  it.each(['+4407911123456', '+80012345678', '+999123456789', '+1', '+12', '+'])(
    'is left to the library for %s',
    (e164) => {
      expect(countryByPlan(e164)).toBeNull();
    },
  );
});
