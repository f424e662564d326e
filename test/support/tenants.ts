import type { Tenant } from '@countersign/keys';

/** The tenant of the account's live keys. */
export const liveTenant = (accountId: string): Tenant => ({ accountId, mode: 'live' });

/** The tenant of the account's test keys. */
export const testTenant = (accountId: string): Tenant => ({ accountId, mode: 'test' });
