import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY_DEPENDANTS } from '../../apps/control-plane/src/key-rotation/key-dependants.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

/** Columns of octets that are not sealed again, each with the row of the status that stands for it, or the reason for none. */
const NOT_SEALED_AGAIN: Readonly<Record<string, string>> = {
  'admin_keys.digest': 'admin_keys',
  'api_keys.digest': 'api_keys',
  'bus_payloads.payload': 'none: made with no key',
  'concatenation_parts.key': 'none: ends within minutes',
  'concatenation_parts.text_sealed': 'none: ends within minutes',
  'concatenations.key': 'none: ends within minutes',
  'idempotency_keys.body_sealed': 'idempotency_keys',
  'idempotency_keys.digest': 'idempotency_keys',
  'idempotency_keys.fingerprint': 'idempotency_keys',
  'key_checks.value': 'none: tells the versions apart',
  'otp_checks.phones': 'none: ends within the hour',
  'otp_phones.phone': 'otp_phones',
  'realtime_tickets.digest': 'sessions (codes, tickets and counters of the last day)',
  'sender_formats.digests': 'sender_formats',
  'sessions.otp_digests': 'sessions (codes, tickets and counters of the last day)',
  'sessions.token_digest': 'sessions (pending)',
  'smpp_systems.password_digest': 'smpp_systems',
};
const COLUMNS_OF_OCTETS = `
  SELECT relname || '.' || attname AS name FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition AND NOT attisdropped
    AND atttypid IN ('bytea'::regtype, 'bytea[]'::regtype)`;

let harness: SessionHarness;
beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

it('every column of octets is sealed again, listed in the status, or has a reason why it needs neither', async () => {
  const rows = await harness.database.query<{ name: string }>(COLUMNS_OF_OCTETS);
  const sealed = KEY_DEPENDANTS.columns.map(({ table, column }) => `${table}.${column}`);
  expect(rows.map(({ name }) => name).sort()).toEqual([...sealed, ...Object.keys(NOT_SEALED_AGAIN)].sort());
  const listed = new Set(KEY_DEPENDANTS.rows.map(({ name }) => name));
  const reasons = Object.values(NOT_SEALED_AGAIN).filter((reason) => !reason.startsWith('none: '));
  expect(reasons.filter((reason) => !listed.has(reason))).toEqual([]);
  // No kind of row in the status stands for nothing.
  expect([...listed].filter((name) => !reasons.includes(name))).toEqual([]);
});
