export { ACCOUNT_KEY_DEPENDANTS, entropyVersionsInUse } from './key-dependants.js';
export { KeyUse, type KeyUseOptions } from './key-use.js';
export type { OutdatedDigest } from './outdated-digest.js';
