import type { VersionedRows } from '@countersign/key-ring';
import { KEPT_HOURS } from './idempotency.store.js';

/** Idempotency keys that have a row under one version of the master key only. */
export const IDEMPOTENCY_KEY_ROWS: VersionedRows = {
  name: 'idempotency_keys',
  count: `SELECT count(*)::int AS rows, max(created_at) AS "newestAt" FROM idempotency_keys AS known
    WHERE digest_version = $1 AND created_at > clock_timestamp() - interval '1 day' AND $2::uuid IS NOT NULL
      AND NOT EXISTS (SELECT FROM idempotency_keys AS twin
        WHERE twin.resource_id = known.resource_id AND twin.digest_version <> $1)`,
  isNeeded: false,
  gatewaysWrite: false,
  livesSeconds: KEPT_HOURS * 3_600,
  renewal: 'deleted when it expires',
};
