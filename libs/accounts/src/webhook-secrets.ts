import { createWebhookSecret, type ServerKeys, type Tenant } from '@countersign/keys';
import { written, type Executor, type Uuid } from '@countersign/postgres';
import { ENSURE_TEST_WEBHOOK_SECRET } from './account.sql.js';

/** The context that a secret is sealed with: the secret of one mode does not open in the place of the other's. */
const contextOf = ({ accountId, mode }: Tenant): string => (mode === 'live' ? accountId : `${mode} ${accountId}`);

export const sealWebhookSecret = (keys: ServerKeys, tenant: Tenant, secret: string): Buffer =>
  keys.seal('webhook-secret', secret, contextOf(tenant));

/** The secret as text, `whsec_…`. Throws SealError when it was sealed with another key or for another tenant. */
export const openWebhookSecret = (keys: ServerKeys, tenant: Tenant, sealed: Buffer): string =>
  keys.open('webhook-secret', sealed, contextOf(tenant)).toString('utf8');

/** The account's sealed test secret, made now if the account is older than test secrets. The account exists. */
export async function ensureTestWebhookSecret(db: Executor, keys: ServerKeys, accountId: Uuid): Promise<Buffer> {
  const sealed = sealWebhookSecret(keys, { accountId, mode: 'test' }, createWebhookSecret());
  return written(await db.query<{ sealed: Buffer }>(ENSURE_TEST_WEBHOOK_SECRET, [accountId, sealed])).sealed;
}
