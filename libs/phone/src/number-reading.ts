import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** Digits with or without a plus, as an SMPP address contains a telephone number (SMPP 3.4, 5.2.8). */
const NUMBER = /^\+?[0-9]{4,20}$/;
/** Country code and at least four digits: a shorter number is a short code, whatever its type of number. */
const INTERNATIONAL_DIGITS = /^[1-9][0-9]{6,14}$/;

/** Country codes of ITU-T E.164 without a country: services and satellite networks. */
export const NON_GEOGRAPHIC_CODES: readonly string[] = ['800', '808', '870', '878', '881', '882', '883', '888', '979'];

const CALLING_CODES: ReadonlySet<string> = new Set([
  ...getCountries().map((country) => getCountryCallingCode(country)),
  ...NON_GEOGRAPHIC_CODES,
]);

/** Whether an address value is written as a number: ASCII digits, with at most a leading plus. */
export function isNumber(value: string): boolean {
  return NUMBER.test(value);
}

/**
 * The E.164 number of digits that the peer marked as international. The numbering plan is not consulted, because
 * parsing costs ten times the rest of a reading, except for a zero after the country code: a trunk prefix in Britain,
 * part of the number in Italy. Null for digits that do not begin with a country code.
 */
export function readMarkedInternational(digits: string): string | null {
  if (!INTERNATIONAL_DIGITS.test(digits)) return null;
  const code = callingCodeOf(digits);
  if (code === null) return null;
  return digits.charAt(code.length) === '0' ? readInternational(digits) : `+${digits}`;
}

/** The E.164 number of international digits without a plus; null unless it is valid in a numbering plan. */
export function readInternational(digits: string): string | null {
  if (!INTERNATIONAL_DIGITS.test(digits)) return null;
  const number = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return number?.isValid() ? number.number : null;
}

/**
 * The E.164 number of digits as dialled within a country; null unless it is valid in that country's numbering plan.
 */
export function readNational(digits: string, country: string | null): string | null {
  if (country === null || !isSupportedCountry(country)) return null;
  const number = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false });
  if (number?.countryCallingCode !== getCountryCallingCode(country) || !number.isValid()) return null;
  // Some numbering plans (Germany's) allow more digits than E.164.
  return INTERNATIONAL_DIGITS.test(number.number.slice(1)) ? number.number : null;
}

/** `00` is the international prefix of most countries, and no country code starts with a zero. */
export function withoutInternationalPrefix(value: string): string {
  return value.startsWith('00') ? value.slice(2) : value;
}

/** Whether two E.164 numbers have the same country code. */
export function haveSameCallingCode(a: string, b: string): boolean {
  const code = callingCodeOf(a.slice(1));
  return code !== null && code === callingCodeOf(b.slice(1));
}

/** Country codes have one to three digits, and none is a prefix of another. */
function callingCodeOf(digits: string): string | null {
  for (const length of [1, 2, 3]) {
    const code = digits.slice(0, length);
    if (CALLING_CODES.has(code)) return code;
  }
  return null;
}
