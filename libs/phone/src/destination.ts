import {
  haveSameCallingCode,
  isNumber,
  readInternational,
  readMarkedInternational,
  readNational,
  withoutInternationalPrefix,
} from './number-reading.js';
import { TON, type SmppAddress } from './smpp-address.js';

/**
 * The E.164 numbers that the destination of an SMS may be, best first; none for letters and short codes. A
 * destination is not evidence: it is only used to find the country of the number that received the SMS. For senders
 * use `readSender`, which never gives two numbers.
 *
 * - international (TON 1, or a leading plus): that number, with or without `+` or `00`;
 * - national (TON 2): the number in `country`;
 * - unknown (TON 0): as international if that is a number, then as national, unless both have the same country code;
 * - any other type: none.
 */
export function destinationCandidates(address: SmppAddress, country: string | null): string[] {
  const { ton, value } = address;
  if (!isNumber(value)) return [];
  if (value.startsWith('+')) return listOf(readMarkedInternational(value.slice(1)));
  switch (ton) {
    case TON.international:
      return listOf(readMarkedInternational(withoutInternationalPrefix(value)));
    case TON.national:
      return listOf(readNational(value, country));
    case TON.unknown:
      return ofUnknownType(value, country);
    default:
      return [];
  }
}

function ofUnknownType(value: string, country: string | null): string[] {
  const asInternational = readInternational(withoutInternationalPrefix(value));
  const asNational = readNational(value, country);
  if (asInternational === null) return listOf(asNational);
  if (asNational === null || haveSameCallingCode(asInternational, asNational)) return [asInternational];
  return [asInternational, asNational];
}

function listOf(candidate: string | null): string[] {
  return candidate === null ? [] : [candidate];
}
