export { ACCOUNT_KEY_DEPENDANTS, entropyVersionsInUse } from './key-dependants.js';
export { KeyUse } from './key-use.js';
export type { OutdatedDigest } from './outdated-digest.js';
