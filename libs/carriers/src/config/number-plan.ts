import { countryOf, destinationCandidates, isOfUnknownFormat, TON, type SmppAddress } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { InboundNumber } from './inbound-number.entity.js';

/** Serves every country. */
export const EVERY_COUNTRY = '*';

const LONG_NUMBER = /^\+[0-9]{7,15}$/;

/** Whether the number itself says its country: not a short code, nor a number of no numbering plan. */
export const hasOwnCountry = (number: string): boolean => ownCountry(number) !== null;

/**
 * The number to which a phone of this country sends. Preference: numbers that name the country before numbers for all
 * countries, then numbers reserved for the brand, then the oldest. Numbers reserved for other brands are excluded.
 *
 * @param country ISO 3166-1 alpha-2, or `001` for a phone without a country
 * @returns E.164 or a short code; null when no number serves the country
 */
export function servingNumber(numbers: readonly InboundNumber[], country: string, brandId: Uuid | null): string | null {
  const usable = numbers.filter((number) => number.brandId === null || number.brandId === brandId);
  const rank = ({ countries, brandId: owner, id }: InboundNumber): string =>
    `${countries.includes(country) ? 0 : 1}${owner === null ? 1 : 0}${id}`;
  let best: InboundNumber | null = null;
  for (const number of usable) {
    if (!number.countries.includes(country) && !number.countries.includes(EVERY_COUNTRY)) continue;
    if (best === null || rank(number) < rank(best)) best = number;
  }
  return best?.number ?? null;
}

/**
 * The country of the number that received an SMS, used to parse a sender's national number (contract, MO matching):
 * the country of a long number; for a short code the single country for which it is registered. Null when unknown, and
 * when the destination may be numbers of ours in several countries: then only international senders can match.
 *
 * @param former long numbers that were ours: a deleted number keeps its country where no number of ours is meant
 */
export function receivingCountry(
  numbers: readonly InboundNumber[],
  destination: SmppAddress,
  former: readonly string[] = [],
): string | null {
  const digits = destination.value.replace(/^\+/, '');
  const shortCode = numbers.find(({ number }) => number === digits);
  if (shortCode !== undefined) return countryServedBy(shortCode);
  for (const known of [numbers.map(({ number }) => number), former]) {
    const [country, ...others] = countriesOfLongNumbers(known, destination);
    if (country !== undefined) return others.length > 0 ? null : country;
  }
  // The sender of an SMS chooses its destination: digits that may be a national number must not decide how the sender
  // is parsed.
  if (isOfUnknownFormat(destination)) return null;
  const [international] = destinationCandidates(destination, null);
  return international === undefined ? null : countryOf(international);
}

/**
 * The countries of the receiving number when `receivingCountry` is null: those of a short code of several countries;
 * for a short code of all countries and for an unknown destination the countries of all our numbers, deleted ones
 * included: a sender that reads as two numbers must not become evidence of one when a number is deleted.
 *
 * @param former countries of the long numbers that were ours (see `countriesOfFormer`)
 */
export function possibleCountries(
  numbers: readonly InboundNumber[],
  destination: SmppAddress,
  former: readonly string[] = [],
): readonly string[] {
  const ours = numbers.find(({ number }) => number === destination.value);
  const named = ours === undefined ? [] : countriesOf(ours);
  return named.length > 0 ? named : [...new Set([...numbers.flatMap(countriesOf), ...former])];
}

/** The countries of long numbers. Parses each. */
export function countriesOfFormer(former: readonly string[]): readonly string[] {
  return [...new Set(former.flatMap((number) => ownCountry(number) ?? []))];
}

/**
 * The countries of the long numbers that the destination may be, by its type. A number is compared as a whole, not by its
 * end, and its digits alone are not enough: those of one number may be the national form of another.
 */
function countriesOfLongNumbers(numbers: readonly string[], destination: SmppAddress): Set<string> {
  // Parsing a number against its numbering plan is expensive; the last digits exclude nearly all of them.
  const lastDigits = destination.value.slice(-4);
  const countries = new Set<string>();
  for (const number of numbers) {
    const country = number.endsWith(lastDigits) ? ownCountry(number) : null;
    if (country !== null && destinationCandidates(destination, country).includes(number)) countries.add(country);
  }
  return countries;
}

/** Digits that carriers write before a national number, the empty text included. */
const TRUNK_PREFIXES = ['', '0', '1', '8', '06'];
const LEAST_NATIONAL_DIGITS = 4;
/** A plus and a country code. */
const LONGEST_COUNTRY_PREFIX = 4;

/**
 * Whether some digits are the national form of both numbers, which have different countries: then they give the country
 * of the one that is ours. False where a number has no country of its own.
 */
export function shareNationalDigits(one: string, other: string): boolean {
  // Parsing numbers is expensive; nearly all pairs end differently.
  const end = LONGEST_COUNTRY_PREFIX - Math.min(one.length, other.length);
  if (one.slice(end) !== other.slice(end)) return false;
  const countries = [ownCountry(one), ownCountry(other)];
  if (countries.includes(null) || countries[0] === countries[1]) return false;
  const endings = [one, other].flatMap((number) =>
    Array.from({ length: number.length - LEAST_NATIONAL_DIGITS }, (_, at) => number.slice(at + 1)),
  );
  const values = new Set(endings.flatMap((ending) => TRUNK_PREFIXES.map((prefix) => prefix + ending)));
  const isWritten = (number: string, country: string | null | undefined, value: string): boolean =>
    [TON.national, TON.unknown].some((ton) =>
      destinationCandidates({ ton, npi: 1, value }, country ?? null).includes(number),
    );
  return [...values].some((value) => isWritten(one, countries[0], value) && isWritten(other, countries[1], value));
}

/** Null for a short code, and for a long number of no numbering plan. */
const ownCountry = (number: string): string | null => (LONG_NUMBER.test(number) ? countryOf(number) : null);

/** The countries of a long number's row do not count: they say whom it serves, not where it is. */
function countriesOf({ number, countries }: InboundNumber): string[] {
  if (!LONG_NUMBER.test(number)) return countries.filter((country) => country !== EVERY_COUNTRY);
  const own = countryOf(number);
  return own === null ? [] : [own];
}

/** The country of a short code. */
function countryServedBy({ countries }: InboundNumber): string | null {
  const [country, ...others] = countries;
  return country === undefined || country === EVERY_COUNTRY || others.length > 0 ? null : country;
}
