export { AccountDirectory, type LiveKey } from './account.directory.js';
export { AccountEntity } from './account.entity.js';
export {
  LIMIT_NAMES,
  SCOPES,
  type Account,
  type ApiKey,
  type ApiKeyPrincipal,
  type Brand,
  type KeyLimits,
  type Scope,
} from './account.js';
export { AccountStore, BrandRefused, MAX_REPLACED_SECRETS } from './account.store.js';
export { ApiKeyEntity } from './api-key.entity.js';
export { DOMAIN, RCS_AGENT_ID, SENDER_ID, SLUG } from './brand-formats.js';
export { BrandEntity } from './brand.entity.js';
export { checkBrand } from './check-brand.js';
