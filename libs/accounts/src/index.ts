export { ACCOUNTS, API_KEYS, BRANDS, PRICES } from './account-tables.js';
export { AccountDirectory, type LiveKey, type OutdatedDigest } from './account.directory.js';
export { AccountEntity } from './account.entity.js';
export {
  AccountStore,
  BrandRefused,
  MAX_REPLACED_SECRETS,
  type AccountStoreOptions,
  type NewAccount,
  type NewApiKey,
  type NewBrand,
  type SecretRotation,
} from './account.store.js';
export {
  LIMIT_NAMES,
  SCOPES,
  type Account,
  type ApiKey,
  type ApiKeyPrincipal,
  type Brand,
  type KeyLimits,
  type LimitName,
  type Scope,
} from './account.js';
export { ApiKeyEntity } from './api-key.entity.js';
export { BrandEntity } from './brand.entity.js';
export { DOMAIN, RCS_AGENT_ID, SENDER_ID, SLUG } from './brand-formats.js';
export { DAYS_OF_FAILURE, DefaultWebhookStore, type FailingDefault } from './default-webhook.store.js';
export { checkBrand, type BrandCheck, type BrandText } from './check-brand.js';
export { ACCOUNT_KEY_DEPENDANTS, entropyVersionsInUse } from './key-dependants.js';
export { KeyUse, type KeyUseOptions } from './key-use.js';
export { PRICED_CHANNELS, type Price, type PricedChannel } from './price.js';
export { PriceStore, type NewPrice } from './price.store.js';
export { isUsd, renderUsd } from './usd.js';
