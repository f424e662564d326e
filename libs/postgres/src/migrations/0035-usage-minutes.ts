import type { QueryRunner, MigrationInterface } from 'typeorm';
import { buildIndex } from './partition-indexes.js';
import { inOwnTransaction } from './under-short-lock.js';

/** The id of the current transaction as a number: entities have no xid8. It has no meaning in another cluster. */
const XID = '((pg_current_xact_id())::text)::bigint';

/** By table: its index of changes, by the last transaction that changed what usage counts. */
const INDEXES: Readonly<Record<string, { readonly name: string; readonly key: string }>> = {
  sessions: { name: 'sessions_changed', key: '(greatest(created_xid, rcs_xid, ended_xid))' },
  outbound_messages: {
    name: 'outbound_messages_counted',
    key: '(submitted_xid) WHERE submitted_xid IS NOT NULL AND NOT test',
  },
};

const TABLES = [
  `CREATE TABLE usage_progress (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    minutes_from timestamptz(3) NOT NULL,
    settled_until timestamptz(3) NOT NULL,
    open_from timestamptz(3) NOT NULL,
    folded_xid bigint NOT NULL
  )`,
  // Rows of open minutes are updated every few seconds.
  `CREATE TABLE usage_minutes (
    account_id uuid NOT NULL,
    test boolean NOT NULL,
    minute timestamptz(3) NOT NULL,
    brand_id uuid NOT NULL,
    channel text NOT NULL CHECK (channel IN ('rcs', 'sms_fallback', 'sms_otp')),
    status text NOT NULL,
    country text NOT NULL,
    route_id uuid NOT NULL,
    bucket smallint NOT NULL,
    count bigint NOT NULL,
    cost_usd numeric(20, 6) NOT NULL,
    PRIMARY KEY (account_id, test, minute, brand_id, channel, status, country, route_id, bucket)
  ) WITH (fillfactor = 70)`,
  `CREATE INDEX usage_minutes_minute ON usage_minutes (minute)`,
];

/**
 * Usage in minutes. Each session and each code keeps the transactions that changed what is counted of it, so that changes are
 * folded in sets, each once, without a write on the paths of requests: rows of before have none and are counted as before.
 *
 * As in 0020-unclaimed-deliveries.ts the indexes are built without a transaction; after an interruption all of this runs again.
 */
export class UsageMinutes1700000000035 implements MigrationInterface {
  readonly name = 'UsageMinutes1700000000035';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // A default in the same clause would rewrite the table.
    await inOwnTransaction(
      runner,
      `ALTER TABLE sessions ADD COLUMN IF NOT EXISTS created_xid bigint, ADD COLUMN IF NOT EXISTS rcs_xid bigint,
        ADD COLUMN IF NOT EXISTS ended_xid bigint, ALTER COLUMN created_xid SET DEFAULT ${XID}`,
    );
    await inOwnTransaction(runner, 'ALTER TABLE outbound_messages ADD COLUMN IF NOT EXISTS submitted_xid bigint');
    for (const [table, { name, key }] of Object.entries(INDEXES)) {
      await buildIndex(runner, { table, name, key });
    }
    for (const table of ['usage_minutes', 'usage_progress']) await runner.query(`DROP TABLE IF EXISTS ${table}`);
    for (const statement of TABLES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_minutes', 'usage_progress']) await runner.query(`DROP TABLE ${table}`);
    await inOwnTransaction(runner, 'ALTER TABLE outbound_messages DROP COLUMN submitted_xid');
    await inOwnTransaction(
      runner,
      'ALTER TABLE sessions DROP COLUMN created_xid, DROP COLUMN rcs_xid, DROP COLUMN ended_xid',
    );
  }
}
