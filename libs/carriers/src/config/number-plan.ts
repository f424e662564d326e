import { countryOf, destinationCandidates, isOfUnknownFormat, type SmppAddress } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { InboundNumber } from './carrier.js';

/** Serves every country. */
export const EVERY_COUNTRY = '*';

const LONG_NUMBER = /^\+[0-9]{7,15}$/;

/** Whether the country of the number is what its row says, not what the number itself says. */
export const isShortCode = (number: string): boolean => !LONG_NUMBER.test(number);

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
 * the country of a long number; for a short code the single country for which it is registered. Null when unknown:
 * then only international senders can match.
 */
export function receivingCountry(numbers: readonly InboundNumber[], destination: SmppAddress): string | null {
  const digits = destination.value.replace(/^\+/, '');
  const ours =
    numbers.find(({ number }) => number.replace(/^\+/, '') === digits) ?? byNationalForm(numbers, destination);
  if (ours !== undefined) return countryServedBy(ours);
  // The sender of an SMS chooses its destination: digits that may be a national number must not decide how the sender
  // is parsed.
  if (isOfUnknownFormat(destination)) return null;
  const [international] = destinationCandidates(destination, null);
  return international === undefined ? null : countryOf(international);
}

/**
 * The countries of the receiving number when `receivingCountry` is null: those of a short code of several countries;
 * for a short code of all countries and for an unknown destination the countries of all our numbers.
 */
export function possibleCountries(numbers: readonly InboundNumber[], destination: SmppAddress): readonly string[] {
  const ours = numbers.find(({ number }) => number === destination.value);
  const named = ours === undefined ? [] : countriesOf(ours);
  return named.length > 0 ? named : [...new Set(numbers.flatMap(countriesOf))];
}

/** The long number of ours that the carrier wrote in its national form. Compared as a whole, not by its end. */
function byNationalForm(numbers: readonly InboundNumber[], destination: SmppAddress): InboundNumber | undefined {
  // Parsing a number against its numbering plan is expensive; the last digits exclude nearly all of them.
  const lastDigits = destination.value.slice(-4);
  return numbers.find(({ number }) => {
    if (!LONG_NUMBER.test(number) || !number.endsWith(lastDigits)) return false;
    return destinationCandidates(destination, countryOf(number)).includes(number);
  });
}

function countriesOf({ number, countries }: InboundNumber): string[] {
  const own = LONG_NUMBER.test(number) ? countryOf(number) : null;
  return own === null ? countries.filter((country) => country !== EVERY_COUNTRY) : [own];
}

function countryServedBy({ number, countries }: InboundNumber): string | null {
  const own = LONG_NUMBER.test(number) ? countryOf(number) : null;
  if (own !== null) return own;
  const [country, ...others] = countries;
  return country === undefined || country === EVERY_COUNTRY || others.length > 0 ? null : country;
}
