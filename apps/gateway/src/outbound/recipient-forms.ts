import { isOfOtherNetwork, TON, type SmppAddress } from '@countersign/phone';

/** Prefixes that mark a number with its country code: a plus, or that of international calls. */
const INTERNATIONAL_PREFIXES = ['+', '00', '011'];

/**
 * Whether every carrier reads an address as this phone: with the country code, marked by the type of number or by a prefix. Digits
 * without either, of unknown type (TON 0), can be a national number of another country.
 */
export function identifiesPhone(e164: string, { ton, npi, value }: SmppAddress): boolean {
  if (isOfOtherNetwork(npi) || (ton !== TON.international && ton !== TON.unknown)) return false;
  const digits = e164.slice(1);
  if (ton === TON.international && value === digits) return true;
  return INTERNATIONAL_PREFIXES.some((prefix) => value === prefix + digits);
}
