import { nationalDigits } from '@countersign/phone';

/** Prefixes of a number with its country code: none, a plus, or that of international calls. */
const BEFORE_COUNTRY = ['', '+', '00', '011'];
/** Prefixes of a number without its country code: none, or that of national calls. */
const BEFORE_NATIONAL = ['', '0'];

/** Whether a rewritten address is still the phone: its number with or without the country code, and the usual prefixes. */
export function isSamePhone(e164: string, address: string): boolean {
  const national = nationalDigits(e164);
  const forms = BEFORE_COUNTRY.map((before) => before + e164.slice(1));
  if (national !== null) forms.push(...BEFORE_NATIONAL.map((before) => before + national));
  return forms.includes(address);
}
