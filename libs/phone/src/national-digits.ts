import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** The digits of an E.164 number after its country code, without a trunk prefix; null for a text without a country code. */
export function nationalDigits(e164: string): string | null {
  return parsePhoneNumberFromString(e164, { extract: false })?.nationalNumber ?? null;
}
