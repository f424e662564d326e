import { parsePhoneNumberFromString, type PhoneNumberType } from 'libphonenumber-js/max';
import { NON_GEOGRAPHIC_CODES } from './number-reading.js';

/** What a number plan uses a number for. `fixed_line_or_mobile`: the plan does not tell them apart, as in North America. */
export type NumberType =
  | 'fixed_line'
  | 'fixed_line_or_mobile'
  | 'mobile'
  | 'pager'
  | 'personal_number'
  | 'premium_rate'
  | 'shared_cost'
  | 'toll_free'
  | 'uan'
  | 'voicemail'
  | 'voip';

const TYPES: Readonly<Record<PhoneNumberType, NumberType>> = {
  FIXED_LINE: 'fixed_line',
  FIXED_LINE_OR_MOBILE: 'fixed_line_or_mobile',
  MOBILE: 'mobile',
  PAGER: 'pager',
  PERSONAL_NUMBER: 'personal_number',
  PREMIUM_RATE: 'premium_rate',
  SHARED_COST: 'shared_cost',
  TOLL_FREE: 'toll_free',
  UAN: 'uan',
  VOICEMAIL: 'voicemail',
  VOIP: 'voip',
};

/** The type of a number in E.164; null for one that its plan has given no use (unassigned), and for what is no number. */
export function numberTypeOf(e164: string): NumberType | null {
  const type = parsePhoneNumberFromString(e164, { extract: false })?.getType();
  return type === undefined ? null : TYPES[type];
}

/**
 * Kinds of numbers that end users do not sign in with: calls or messages earn money for the holder or cost the called party.
 * `non_geographic`: under a country code that belongs to no country, whatever its use there.
 */
export const RESTRICTED_KINDS = [
  'non_geographic',
  'pager',
  'personal_number',
  'premium_rate',
  'shared_cost',
  'toll_free',
  'uan',
  'voicemail',
] as const;
export type RestrictedKind = (typeof RESTRICTED_KINDS)[number];

/**
 * The restricted kind of a number in E.164; null for every other number, an unassigned one included.
 *
 * @param type the result of `numberTypeOf`, where the caller has it: parsing a number is expensive
 */
export function restrictedKindOf(e164: string, type = numberTypeOf(e164)): RestrictedKind | null {
  if (NON_GEOGRAPHIC_CODES.some((code) => e164.startsWith(code, 1))) return 'non_geographic';
  return RESTRICTED_KINDS.find((kind) => kind === type) ?? null;
}
