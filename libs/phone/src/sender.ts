import { isCountry } from './country.js';
import {
  isNumber,
  readInternational,
  readMarkedInternational,
  readNational,
  withoutInternationalPrefix,
} from './number-reading.js';
import { isOfOtherNetwork, TON, type SmppAddress } from './smpp-address.js';

export const SENDER_READINGS = ['international', 'national'] as const;
/**
 * How the digits of a sender of unknown type are written: with the country code, or as dialled within the country.
 */
export type SenderReading = (typeof SENDER_READINGS)[number];

export const SENDER_FORMATS = [...SENDER_READINGS, 'auto'] as const;
/** How a link writes senders of unknown type (contract, Admin). `auto`: unknown. */
export type SenderFormat = (typeof SENDER_FORMATS)[number];

/** The evidence in the source address of an SMS: at most one number, and none when it is ambiguous. */
export interface SenderEvidence {
  /** The sender's number in E.164; null when the address gives none. */
  readonly phone: string | null;
  /**
   * Whether the digits may be two different numbers, or contradict the learned format: they are then evidence of no
   * number.
   */
  readonly ambiguous: boolean;
  /**
   * In `auto`, for a sender of unknown type: the only possible reading of its digits, as evidence of the link's
   * format; else null.
   */
  readonly shows: SenderReading | null;
}

/** The rule for parsing a link's senders. */
export interface SenderRule {
  readonly format: SenderFormat;
  /** The format that the link has learned in `auto`; null for none. */
  readonly learned: SenderReading | null;
}

const NO_EVIDENCE: SenderEvidence = { phone: null, ambiguous: false, shows: null };
const AMBIGUOUS: SenderEvidence = { phone: null, ambiguous: true, shows: null };

/**
 * Parses the sender of an SMS. The number is compared with the session's phone as a whole, never by its end
 * (contract, MO matching).
 *
 * - a type of number above 2 (short codes, letters, abbreviations), letters, or the numbering plan of another
 *   network: no evidence, with a plus too. Many SMS providers let their customers set such senders freely;
 * - international (TON 1, or a leading plus): that number, with or without `+` or `00`;
 * - national (TON 2): the number in the country of the receiving number;
 * - unknown (TON 0) with leading `00`: international;
 * - unknown (TON 0) otherwise: by the rule. In `auto` only if the two readings do not give two numbers.
 *
 * @param receivingCountry ISO 3166-1 alpha-2, or null when unknown: then nothing is parsed as national
 * @param possibleCountries the possible values of an unknown receiving country: in `auto` a sender of unknown type is
 * ambiguous when it is another number in one of them
 */
export function readSender(
  address: SmppAddress,
  receivingCountry: string | null,
  rule: SenderRule,
  possibleCountries: readonly string[] = [],
): SenderEvidence {
  const { ton, npi, value } = address;
  if (ton > TON.national || isOfOtherNetwork(npi) || !isNumber(value)) return NO_EVIDENCE;
  if (value.startsWith('+')) return evidenceOf(readMarkedInternational(value.slice(1)));
  if (ton === TON.international) return evidenceOf(readMarkedInternational(withoutInternationalPrefix(value)));
  if (ton === TON.national) return evidenceOf(readNational(value, receivingCountry));
  if (value.startsWith('00')) return evidenceOf(readInternational(value.slice(2)));
  if (rule.format !== 'auto') return evidenceOf(readAs(rule.format, value, receivingCountry));
  return rule.learned === null
    ? readBothWays(value, receivingCountry, possibleCountries)
    : readAsLearned(rule.learned, value, receivingCountry);
}

/** Whether the link's format decides how this sender is parsed. */
export function isOfUnknownFormat({ ton, value }: SmppAddress): boolean {
  return ton === TON.unknown && !value.startsWith('+') && !value.startsWith('00');
}

function readBothWays(
  value: string,
  receivingCountry: string | null,
  possibleCountries: readonly string[],
): SenderEvidence {
  const international = readInternational(value);
  const national = readNational(value, receivingCountry);
  if (international === null) return national === null ? NO_EVIDENCE : shown(national, 'national');
  if (!isKnown(receivingCountry)) {
    return isAnotherNumberIn(possibleCountries, value, international) ? AMBIGUOUS : evidenceOf(international);
  }
  if (national === international) return evidenceOf(international);
  return national === null ? shown(international, 'international') : AMBIGUOUS;
}

/** Whether digits that are an international number are a different number as dialled within one of the countries. */
function isAnotherNumberIn(countries: readonly string[], value: string, international: string): boolean {
  return countries.some((country) => {
    const national = readNational(value, country);
    return national !== null && national !== international;
  });
}

/**
 * A sender that is a number only in the other reading contradicts the learned format, and is evidence of no number.
 */
function readAsLearned(learned: SenderReading, value: string, receivingCountry: string | null): SenderEvidence {
  const phone = readAs(learned, value, receivingCountry);
  if (phone !== null || !isKnown(receivingCountry)) return evidenceOf(phone);
  const other = learned === 'international' ? 'national' : 'international';
  if (readAs(other, value, receivingCountry) === null) return NO_EVIDENCE;
  return { ...AMBIGUOUS, shows: other };
}

/** Without a country the national reading cannot be checked: such a sender is not evidence of the link's format. */
function isKnown(receivingCountry: string | null): boolean {
  return receivingCountry !== null && isCountry(receivingCountry);
}

function readAs(reading: SenderReading, value: string, receivingCountry: string | null): string | null {
  return reading === 'international' ? readInternational(value) : readNational(value, receivingCountry);
}

function evidenceOf(phone: string | null): SenderEvidence {
  return phone === null ? NO_EVIDENCE : { phone, ambiguous: false, shows: null };
}

function shown(phone: string, shows: SenderReading): SenderEvidence {
  return { phone, ambiguous: false, shows };
}
