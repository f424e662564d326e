export { AccountDirectory } from './account.directory.js';
export { AccountEntity } from './account.entity.js';
export {
  AccountStore,
  BrandRefused,
  type AccountStoreOptions,
  type NewAccount,
  type NewApiKey,
  type NewBrand,
} from './account.store.js';
export { SCOPES, type Account, type ApiKeyPrincipal, type Brand, type KeyLimits, type Scope } from './account.js';
export { ApiKeyEntity } from './api-key.entity.js';
export { BrandEntity } from './brand.entity.js';
export { checkBrand, type BrandCheck, type BrandText } from './check-brand.js';
