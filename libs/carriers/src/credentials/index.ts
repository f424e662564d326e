export { CARRIER_KEY_DEPENDANTS } from './key-dependants.js';
export { outbindClientKey, outbindPassword } from './outbind-secrets.js';
export { SystemPasswordStore } from './smpp-password.store.js';
export {
  createSystemPassword,
  isCommonPassword,
  MAX_PASSWORD_CHARACTERS,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
} from './system-password.js';
export {
  isTrustedConnection,
  lacksTrustProof,
  MIN_TRUSTED_PREFIX_BITS,
  trustProofOf,
  type TrustTerms,
} from './system-trust.js';
export { SystemRefusalStore, type RefusedBinds } from './system-refusal.store.js';
