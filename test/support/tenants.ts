import type { Tenant } from '@countersign/keys';

/** The tenant of a live key of the account. */
export const liveTenant = (accountId: string): Tenant => ({ accountId, mode: 'live' });

/** The tenant of a test key of the account. */
export const testTenant = (accountId: string): Tenant => ({ accountId, mode: 'test' });
