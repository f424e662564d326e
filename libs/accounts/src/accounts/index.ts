export { AccountDirectory, type LiveKey } from './account.directory.js';
export { AccountEntity, ACCOUNTS, type Account } from './account.entity.js';
export {
  DEFAULT_SCOPES,
  LIMIT_NAMES,
  lowerLimits,
  SCOPES,
  USUAL_LIMITS,
  withUsualLimits,
  type ApiKeyPrincipal,
  type KeyLimits,
  type LimitName,
  type Scope,
} from './account.js';
export { isLiveKey } from './account.sql.js';
export { AccountStore, BrandRefused, MAX_REPLACED_SECRETS } from './account.store.js';
export { API_KEYS, ApiKeyEntity, type ApiKey } from './api-key.entity.js';
export { DOMAIN, RCS_AGENT_ID, SENDER_ID, SLUG } from './brand-formats.js';
export { BrandEntity, BRANDS, type Brand } from './brand.entity.js';
export { checkBrand } from './check-brand.js';
