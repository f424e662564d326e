import type { Tenant } from './tenant.js';

/** The account of verifications that sign members in to the console. No key, member or brand of others belongs to it. */
export const SIGN_IN_ACCOUNT_ID = '00000000-0000-7000-8000-000000000001';
/** Its only brand. */
export const SIGN_IN_BRAND_ID = '00000000-0000-7000-8000-000000000002';

export const SIGN_IN_TENANT: Tenant = { accountId: SIGN_IN_ACCOUNT_ID, mode: 'live' };
