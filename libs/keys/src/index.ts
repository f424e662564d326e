export { createApiKey, parseApiKey, type ApiKeyKind } from './api-key.js';
export {
  digestsEqual,
  SEAL_OVERHEAD_OCTETS,
  sealedVersion,
  SealError,
  ServerKeys,
  type DigestLabel,
  type SealLabel,
} from './server-keys.js';
export {
  isTestMode,
  modeOf,
  MODES,
  ownsRow,
  parseTenantKey,
  tenantKey,
  tenantOf,
  type Mode,
  type OwnedRow,
  type Tenant,
} from './tenant.js';
export { SIGN_IN_ACCOUNT_ID, SIGN_IN_BRAND_ID, SIGN_IN_TENANT } from './sign-in-tenant.js';
export { createWebhookSecret, webhookSignature } from './webhook-secret.js';
