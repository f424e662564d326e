export { ACCOUNTS, ADMIN_KEYS, API_KEYS, BRANDS, PRICES } from './account-tables.js';
export { AccountDirectory, type LiveKey } from './account.directory.js';
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
export { ADMIN_ROLES, ROOT_NAME, type AdminKey, type AdminPrincipal, type AdminRole } from './admin-key.js';
export { AdminKeyDirectory, type AdminKeyDirectoryOptions, type LiveAdminKey } from './admin-key.directory.js';
export { AdminKeyEntity } from './admin-key.entity.js';
export { AdminKeyStore, type AdminKeyStoreOptions, type ShownAdminKey } from './admin-key.store.js';
export { ApiKeyEntity } from './api-key.entity.js';
export { BrandEntity } from './brand.entity.js';
export { DOMAIN, RCS_AGENT_ID, SENDER_ID, SLUG } from './brand-formats.js';
export { DAYS_OF_FAILURE, DefaultWebhookStore, type FailingDefault } from './default-webhook.store.js';
export { checkBrand, type BrandCheck, type BrandText } from './check-brand.js';
export { ACCOUNT_KEY_DEPENDANTS, entropyVersionsInUse } from './key-dependants.js';
export { KeyUse, type KeyUseOptions } from './key-use.js';
export type { OutdatedDigest } from './outdated-digest.js';
export { PRICED_CHANNELS, type Price, type PricedChannel } from './price.js';
export { CodePrices } from './code-prices.js';
export { PriceStore, type NewPrice } from './price.store.js';
export { isUsd, renderUsd } from './usd.js';
