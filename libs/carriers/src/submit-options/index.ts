export type { OptionFault } from './checks.js';
export { effectiveOptions, needsTlvs } from './effective-options.js';
export { submitOptionsFault, areSubmitOptions } from './parse-submit-options.js';
export { rewriteAddress } from './rewrite.js';
export {
  ADDRESS_FORMS,
  CONCATENATIONS,
  MAX_ADDRESS,
  MAX_PRIORITY,
  MAX_REGISTERED_DELIVERY,
  MAX_REWRITE_EXAMPLES,
  MAX_REWRITE_RULES,
  MAX_SERVICE_TYPE,
  MAX_TLV_OPTIONS,
  NO_OPTIONS,
  REWRITTEN,
  TLV_TYPES,
  VALIDITY_FORMS,
  type AddressOptions,
  type Concatenation,
  type RewriteRule,
  type Rewritten,
  type SubmitOptions,
} from './submit-options.js';
export { encodeTlvs, type TlvValues } from './tlv-octets.js';
export { SMPP_TLVS, VENDOR_TLVS } from './tlv-tags.js';
