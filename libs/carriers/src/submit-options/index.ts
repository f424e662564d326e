export type { OptionFault } from './checks.js';
export { effectiveOptions, needsTlvs } from './effective-options.js';
export { submitOptionsFault, areSubmitOptions } from './parse-submit-options.js';
export { rewriteAddress } from './rewrite.js';
export {
  NO_OPTIONS,
  OPTION_LIMITS,
  OPTION_VALUES,
  type AddressOptions,
  type Concatenation,
  type RewriteRule,
  type Rewritten,
  type SubmitOptions,
} from './submit-options.js';
export { encodeTlvs, type TlvValues } from './tlv-octets.js';
export { SMPP_TLVS, VENDOR_TLVS } from './tlv-tags.js';
