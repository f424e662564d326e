import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';

/** An address as SMPP carries it: type of number, numbering plan, and the characters (SMPP 3.4, 5.2.5 to 5.2.9). */
export interface SmppAddress {
  readonly ton: number;
  readonly npi: number;
  readonly value: string;
}

const TON_UNKNOWN = 0;
const TON_INTERNATIONAL = 1;
const TON_NATIONAL = 2;

const DIGITS = /^\+?[0-9]{4,20}$/;
/** Country code and at least four digits: below that a number is a short code, whatever its type says. */
const INTERNATIONAL_DIGITS = /^[1-9][0-9]{6,14}$/;

/** Country codes of countries, and of the services that belong to none (ITU-T E.164, non-geographic). */
const CALLING_CODES: ReadonlySet<string> = new Set([
  ...getCountries().map((country) => getCountryCallingCode(country)),
  ...['800', '808', '870', '878', '881', '882', '883', '888', '979'],
]);

/**
 * The E.164 numbers that the sender of an SMS may be, best first; none for letters and short codes. A candidate is
 * compared with the session's phone as a whole, never by its end (contract, MO matching).
 *
 * - international (TON 1, or a leading plus): that number, with or without `+` or `00`;
 * - national (TON 2): the number in the country of the receiving number;
 * - unknown (TON 0): as international where that is a number, then as national. Where the international reading already
 *   lies in the receiving country, the national one is dropped: it would be another subscriber's number;
 * - any other type: none.
 *
 * The numbering plan (NPI) is ignored, since carriers fill it at random.
 */
export function senderCandidates(address: SmppAddress, receivingCountry: string | null): string[] {
  const { ton, value } = address;
  if (!DIGITS.test(value)) return [];
  if (value.startsWith('+')) return listOf(international(value.slice(1)));
  switch (ton) {
    case TON_INTERNATIONAL:
      return listOf(international(withoutPrefix(value)));
    case TON_NATIONAL:
      return listOf(national(value, receivingCountry));
    case TON_UNKNOWN:
      return ofUnknownType(value, receivingCountry);
    default:
      return [];
  }
}

function ofUnknownType(value: string, receivingCountry: string | null): string[] {
  const asInternational = valid(withoutPrefix(value));
  const asNational = national(value, receivingCountry);
  if (asInternational === null) return listOf(asNational);
  if (asNational === null || sameCallingCode(asInternational, asNational)) return [asInternational];
  return [asInternational, asNational];
}

/**
 * The peer vouches for an international number, so it is taken as it stands (parsing costs ten times the rest of this
 * file). Only a zero behind the country code needs the number plan: a trunk prefix in Britain, part of the number in Italy.
 */
function international(digits: string): string | null {
  if (!INTERNATIONAL_DIGITS.test(digits)) return null;
  const code = callingCodeOf(digits);
  if (code === null) return null;
  return digits.charAt(code.length) === '0' ? valid(digits) : `+${digits}`;
}

function valid(digits: string): string | null {
  if (!INTERNATIONAL_DIGITS.test(digits)) return null;
  const number = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return number?.isValid() ? number.number : null;
}

function national(value: string, country: string | null): string | null {
  if (country === null || !isSupportedCountry(country)) return null;
  const number = parsePhoneNumberFromString(value, { defaultCountry: country, extract: false });
  if (number?.countryCallingCode !== getCountryCallingCode(country) || !number.isValid()) return null;
  // Some number plans (Germany's) allow more digits than E.164 does.
  return INTERNATIONAL_DIGITS.test(number.number.slice(1)) ? number.number : null;
}

/** `00` is the international prefix of most of the world, and no country code starts with a zero. */
function withoutPrefix(value: string): string {
  return value.startsWith('00') ? value.slice(2) : value;
}

function sameCallingCode(a: string, b: string): boolean {
  const code = callingCodeOf(a.slice(1));
  return code !== null && code === callingCodeOf(b.slice(1));
}

/** Country codes have one to three digits and none begins another. */
function callingCodeOf(digits: string): string | null {
  for (const length of [1, 2, 3]) {
    const code = digits.slice(0, length);
    if (CALLING_CODES.has(code)) return code;
  }
  return null;
}

function listOf(candidate: string | null): string[] {
  return candidate === null ? [] : [candidate];
}
