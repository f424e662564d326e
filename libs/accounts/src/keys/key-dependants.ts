import type { KeyDependants, SealedColumn, VersionedRows } from '@countersign/key-ring';
import type { Executor } from '@countersign/postgres';
import type { KeyTable } from './key-use.sql.js';

const secretColumn = (column: string, context: string, isList: boolean): SealedColumn => ({
  table: 'accounts',
  column,
  label: 'webhook-secret',
  context,
  isList,
  isSmall: true,
  gatewaysWrite: false,
});

/** Contexts as in `sealWebhookSecret`. */
const [LIVE, TEST] = [`id::text`, `'test ' || id::text`] as const;

const digestsOf = (name: KeyTable): VersionedRows => ({
  name,
  count: `SELECT count(*)::int AS rows, NULL::timestamptz AS "newestAt" FROM ${name}
    WHERE digest_version = $1 AND revoked_at IS NULL AND $2::uuid IS NOT NULL`,
  isNeeded: true,
  gatewaysWrite: false,
  livesSeconds: null,
  renewal: 'renewed when the key is used; revoke or rotate unused keys',
});

/** Columns and rows of this module that depend on the master key. */
export const ACCOUNT_KEY_DEPENDANTS: KeyDependants = {
  columns: [
    secretColumn('webhook_secret_sealed', LIVE, false),
    secretColumn('previous_webhook_secrets_sealed', LIVE, true),
    secretColumn('test_webhook_secret_sealed', TEST, false),
    secretColumn('previous_test_webhook_secrets_sealed', TEST, true),
  ],
  rows: [digestsOf('api_keys'), digestsOf('admin_keys')],
};

const ENTROPY_VERSIONS = `SELECT DISTINCT entropy_key_version AS version FROM brands ORDER BY version`;

/** Versions of the entropy key that brands were created with. */
export async function entropyVersionsInUse(db: Executor): Promise<readonly number[]> {
  return (await db.query<{ version: number }>(ENTROPY_VERSIONS)).map(({ version }) => version);
}
