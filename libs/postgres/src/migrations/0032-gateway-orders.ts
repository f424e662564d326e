import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './partition-indexes.js';
import { inOwnTransaction } from './under-short-lock.js';

/** Octets of the texts of a key together: a row of a B-tree has at most 2,704, and gateways write less than 1 KiB. */
const KEY = 2_048;

const keyOf = (...columns: readonly string[]): string =>
  `${columns.map((column) => `octet_length(coalesce(${column}, ''))`).join(' + ')} <= ${KEY}`;

/** By table: what holds for each row of it, beside 0022-gateway-bounds.ts. Null passes. */
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  submissions: [`receipt_state IN ('delivered', 'undelivered')`, keyOf('carrier', 'smsc_message_id')],
  messages: [keyOf('source')],
  // The columns that become keys of the three tables below.
  card_events: [keyOf('agent_id', 'phone')],
  card_agents: [keyOf('agent_id')],
  card_phones: [keyOf('phone')],
  card_recipients: [keyOf('agent_id', 'phone')],
  concatenations: [`octet_length(key) <= ${KEY}`],
  row_leases: [keyOf('name')],
};

/** Events of before that could not be marked any more: a change of a row is checked as well. */
const MARK_EVENTS = `
  UPDATE card_events SET handled_at = date_trunc('milliseconds', clock_timestamp()), outcome = 'refused'
  WHERE handled_at IS NULL AND NOT (${keyOf('agent_id', 'phone')})`;

const INDEX = {
  table: 'outbound_messages',
  name: 'outbound_messages_live',
  key: "(next_attempt_at, expires_at) WHERE state = 'queued' AND NOT test AND next_attempt_at < expires_at",
};

/**
 * Texts of the role of gateways that become keys are bounded, so that no row of it fails a statement that indexes it together
 * with others; NOT VALID as in 0017-event-times.ts. And an index of the codes that may still be sent: each of them is due
 * before it ends, and the role cannot change its end, so that no number of ended codes stands before them.
 *
 * As in 0020-unclaimed-deliveries.ts the index is built without a transaction; after an interruption all of this runs again.
 */
export class GatewayOrders1700000000032 implements MigrationInterface {
  readonly name = 'GatewayOrders1700000000032';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(MARK_EVENTS);
    for (const [table, conditions] of Object.entries(BOUNDS)) {
      const name = `${table}_keys_check`;
      await inOwnTransaction(
        runner,
        `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name},
          ADD CONSTRAINT ${name} CHECK (${conditions.join(' AND ')}) NOT VALID`,
      );
    }
    await buildIndex(runner, INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX outbound_messages_live');
    for (const table of Object.keys(BOUNDS)) {
      await inOwnTransaction(runner, `ALTER TABLE ${table} DROP CONSTRAINT ${table}_keys_check`);
    }
  }
}
