import { createWebhookSecret, type ServerKeys, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { ENSURE_TEST_WEBHOOK_SECRET } from './account.sql.js';

/** The context that a secret is sealed with. It names the mode, so that live and test secrets cannot be exchanged. */
const contextOf = ({ accountId, mode }: Tenant): string => (mode === 'live' ? accountId : `${mode} ${accountId}`);

export const sealWebhookSecret = (keys: ServerKeys, tenant: Tenant, secret: string): Buffer =>
  keys.seal('webhook-secret', secret, contextOf(tenant));

/** The secret as text, `whsec_…`. Throws SealError when it was sealed with another key or for another tenant. */
export const openWebhookSecret = (keys: ServerKeys, tenant: Tenant, sealed: Buffer): string =>
  keys.open('webhook-secret', sealed, contextOf(tenant)).toString('utf8');

/** The sealed test secret of an existing account; created if the account is older than test secrets. */
export async function ensureTestWebhookSecret(db: Executor, keys: ServerKeys, accountId: Uuid): Promise<Buffer> {
  const sealed = sealWebhookSecret(keys, { accountId, mode: 'test' }, createWebhookSecret());
  return requireRow(await db.query<{ sealed: Buffer }>(ENSURE_TEST_WEBHOOK_SECRET, [accountId, sealed])).sealed;
}
