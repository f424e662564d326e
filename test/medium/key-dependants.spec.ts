import { RIGHTS } from '../../libs/postgres/src/schema/role-rights.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY_DEPENDANTS } from '../../apps/control-plane/src/key-rotation/key-dependants.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

/** Binary columns that are not resealed, each with its entry in the rotation status, or the reason why it has none. */
const NOT_RESEALED: Readonly<Record<string, string>> = {
  'admin_keys.digest': 'admin_keys',
  'api_keys.digest': 'api_keys',
  'bus_payloads.payload': 'none: no key is used',
  'concatenation_parts.key': 'none: deleted within minutes',
  'concatenation_parts.text_sealed': 'none: deleted within minutes',
  'concatenations.key': 'none: deleted within minutes',
  'console_sessions.confirmed_by': 'none: ends within 15 minutes; its holder confirms again',
  'console_sessions.digest': 'none: deleted within 12 hours; its holder signs in again',
  'console_sessions.key_digests': 'none: deleted within 12 hours; its holder signs in again',
  'console_sign_ins.digest': 'none: deleted within the hour',
  'console_sign_ins.key_digests': 'none: deleted within the hour',
  'console_sign_ins.sealed': 'none: deleted within the hour',
  'idempotency_keys.body_sealed': 'idempotency_keys',
  'former_webhook_urls.url_digest': 'none: SHA-256 of a URL, without a key',
  'idempotency_keys.digest': 'idempotency_keys',
  'idempotency_keys.fingerprint': 'idempotency_keys',
  'key_checks.value': 'none: identifies the versions',
  'otp_checks.phones': 'none: deleted within the hour',
  'otp_phones.phone': 'otp_phones',
  'realtime_tickets.digest': 'sessions (codes, tickets and counters of the last day)',
  'sender_formats.digests': 'sender_formats',
  'sessions.otp_digests': 'sessions (codes, tickets and counters of the last day)',
  'sessions.token_digest': 'sessions (pending)',
  'smpp_systems.password_digest': 'smpp_systems',
};
const BINARY_COLUMNS = `
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

it('a column that the role of gateways may write says so', () => {
  const { named } = RIGHTS.gateway.tables;
  const isWritten = ({ table, column }: { readonly table: string; readonly column: string }): boolean =>
    (['INSERT', 'UPDATE'] as const).some((privilege) => {
      const columns = named[table]?.[privilege] ?? [];
      return columns === true || columns.includes(column);
    });
  for (const column of KEY_DEPENDANTS.columns)
    expect([column, column.gatewaysWrite]).toEqual([column, isWritten(column)]);
});

it('every binary column is resealed, listed in the rotation status, or has a reason why it needs neither', async () => {
  const rows = await harness.database.query<{ name: string }>(BINARY_COLUMNS);
  const sealed = KEY_DEPENDANTS.columns.map(({ table, column }) => `${table}.${column}`);
  expect(rows.map(({ name }) => name).sort()).toEqual([...sealed, ...Object.keys(NOT_RESEALED)].sort());
  const listed = new Set(KEY_DEPENDANTS.rows.map(({ name }) => name));
  const reasons = Object.values(NOT_RESEALED).filter((reason) => !reason.startsWith('none: '));
  expect(reasons.filter((reason) => !listed.has(reason))).toEqual([]);
  // Every entry of the status is the entry of some column.
  expect([...listed].filter((name) => !reasons.includes(name))).toEqual([]);
});
