import type { Tenant } from '@countersign/keys';

/** What a live key of the account sees. */
export const liveTenant = (accountId: string): Tenant => ({ accountId, mode: 'live' });

/** What a test key of the account sees. */
export const testTenant = (accountId: string): Tenant => ({ accountId, mode: 'test' });
