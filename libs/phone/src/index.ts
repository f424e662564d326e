export { isCountry } from './country.js';
export { destinationCandidates } from './destination.js';
export { maskPhone, maskPhonesIn } from './mask.js';
export { nationalDigits } from './national-digits.js';
export { checkPhone, countryOf, type PhoneCheck } from './phone-check.js';
export { numberTypeOf, RESTRICTED_KINDS, restrictedKindOf, type RestrictedKind } from './number-type.js';
export {
  isOfUnknownFormat,
  readSender,
  SENDER_FORMATS,
  SENDER_READINGS,
  type SenderEvidence,
  type SenderFormat,
  type SenderReading,
  type SenderRule,
} from './sender.js';
export { isOfOtherNetwork, TON, type SmppAddress } from './smpp-address.js';
