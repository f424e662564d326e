import { parsePhoneNumberFromString, type PhoneNumberType } from 'libphonenumber-js/max';
import { NON_GEOGRAPHIC_CODES } from './number-reading.js';

/**
 * Number types of numbering plans. `fixed_line_or_mobile`: the plan does not distinguish them, as in North America.
 */
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

/** The type of a number in E.164; null for an unassigned number, and for text that is not a number. */
export function numberTypeOf(e164: string): NumberType | null {
  const type = parsePhoneNumberFromString(e164, { extract: false })?.getType();
  return type === undefined ? null : TYPES[type];
}

/**
 * Kinds of numbers that end users do not use to sign in: calls or messages earn money for the holder or cost the
 * called party. `non_geographic`: a country code without a country, whatever its use.
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
 * The restricted kind of a number in E.164; null for every other number, including unassigned ones.
 *
 * @param type the result of `numberTypeOf`, if the caller has it: parsing a number is expensive
 */
export function restrictedKindOf(e164: string, type = numberTypeOf(e164)): RestrictedKind | null {
  if (NON_GEOGRAPHIC_CODES.some((code) => e164.startsWith(code, 1))) return 'non_geographic';
  return RESTRICTED_KINDS.find((kind) => kind === type) ?? null;
}
