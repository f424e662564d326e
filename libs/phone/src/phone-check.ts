import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { countryByPlan } from './numbering-plans.js';

/** The country of numbers without one: international toll-free, satellite and the like (UN M.49 "World"). */
export const NON_GEOGRAPHIC = '001';

/**
 * The result of a check. `e164` is the text itself; `country` is ISO 3166-1 alpha-2, or `001` for a number without a
 * country. `not_e164`: not the canonical text of a number; `not_routable`: not valid in any numbering plan.
 */
export type PhoneCheck =
  | { readonly ok: true; readonly e164: string; readonly country: string }
  | { readonly ok: false; readonly reason: 'not_e164' | 'not_routable' };

/** ITU-T E.164: a plus sign, a country code that never starts with zero, 15 digits at most. */
const E164 = /^\+[1-9][0-9]{1,14}$/;

/**
 * Strict: nothing is trimmed, reformatted or guessed. A text that writes a number in another way than the canonical
 * one (`+44 (0) 7911…` written `+4407911…`) is rejected, since the sender of an SMS is compared with it character by
 * character. Routable means that libphonenumber's full metadata has the number as valid, of any type.
 */
export function checkPhone(text: string): PhoneCheck {
  if (!E164.test(text)) return { ok: false, reason: 'not_e164' };
  const country = countryByPlan(text);
  return country === null ? checkByLibrary(text) : { ok: true, e164: text, country };
}

/** @param text in the form of E.164 */
export function checkByLibrary(text: string): PhoneCheck {
  const number = parsePhoneNumberFromString(text, { extract: false });
  if (!number?.isValid()) return { ok: false, reason: 'not_routable' };
  if (number.number !== text) return { ok: false, reason: 'not_e164' };
  return { ok: true, e164: text, country: number.country ?? NON_GEOGRAPHIC };
}

/** The country of a routable E.164 number as in `PhoneCheck`; null for any other text, including short codes. */
export function countryOf(e164: string): string | null {
  const check = checkPhone(e164);
  return check.ok ? check.country : null;
}
