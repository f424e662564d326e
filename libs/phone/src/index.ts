export { isCountry } from './country.js';
export { maskPhone, maskPhonesIn } from './mask.js';
export { checkPhone, countryOf, NON_GEOGRAPHIC, type PhoneCheck } from './phone-check.js';
export { numberTypeOf, type NumberType } from './number-type.js';
export { senderCandidates, type SmppAddress } from './sender.js';
