import { DestinationStore } from '@countersign/carriers/destinations';
import { EventStore } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { READ_KNOWN_PHONES, READ_WINDOWS } from '../../apps/control-plane/src/guard/guard.sql.js';
import { GuardStore } from '../../apps/control-plane/src/guard/guard.store.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

const PREFIX = PHONE.slice(0, -4);
const BLOCKS = 500;
const PHONES = 20_000;

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 25 });
  // A busy hour for which the planner has no statistics yet: many blocks and phones in every minute.
  for (const columns of [
    'otp_sends (account_id, scope, slot, until, sends)',
    'otp_approvals (account_id, scope, slot, until, settled, approvals)',
  ]) {
    await harness.database.query(
      `INSERT INTO ${columns}
       SELECT $1, CASE WHEN block = 0 THEN '*' WHEN block = 1 THEN $2 ELSE '+1' || block END,
         date_trunc('minute', statement_timestamp()) - make_interval(mins => minute), clock_timestamp() + interval '2 hours',
         1${columns.startsWith('otp_approvals') ? ', 1' : ''}
       FROM generate_series(0, ${BLOCKS}) AS block, generate_series(0, 59) AS minute`,
      [harness.account.id, PREFIX],
    );
  }
  await harness.database.query(
    `INSERT INTO otp_phones (account_id, phone, credited_on)
     SELECT $1, sha256(n::text::bytea), current_date FROM generate_series(1, ${PHONES}) AS n`,
    [harness.account.id],
  );
});
afterAll(() => harness.close());

/** Partitions that the transaction has locked, by table. */
const lockedBy = (tx: Executor): Promise<{ table: string; partitions: number }[]> =>
  tx.query(
    `SELECT split_part(relname, '_p', 1) AS table, count(DISTINCT relname)::int AS partitions
     FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
     WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition GROUP BY 1 ORDER BY 1`,
  );

const planOf = async (statement: string, values: readonly unknown[]): Promise<string> => {
  const plan = await harness.database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, COSTS OFF) ${statement}`,
    values,
  );
  return plan.map((row) => row['QUERY PLAN']).join('\n');
};

describe('the statements of a send', () => {
  it('touch no partition', async () => {
    const store = new GuardStore(new DestinationStore(harness.clock), harness.keys);
    const { account } = await harness.accounts.createAccount(harness.database, { name: 'Other' });
    const session = { accountId: account.id, phone: PHONE, country: 'US' };
    const partitions = await harness.database.transaction(async (tx) => {
      const sends = [{ session, now: new Date(harness.clock.nowMs()) }];
      const locked = await store.openCounters(tx, sends, await store.readSends(tx, sends));
      await store.writeCounters(tx, locked, sends);
      return lockedBy(tx);
    });
    expect(partitions).toEqual([]);
  });

  it('read only the rows of their windows', async () => {
    // As of the minute of these rows, which may have ended since.
    const [oldest] = await harness.database.query<{ from: Date }>('SELECT min(slot) AS "from" FROM otp_sends');
    const from = oldest?.from;
    const accounts = [harness.account.id, harness.account.id];
    const values = [accounts, ['*', PREFIX], [from, from], [from, from]];
    expect(await harness.database.query(READ_WINDOWS, values)).toMatchObject([
      { scope: '*', sends: 60, settled: 60, approvals: 60 },
      { scope: PREFIX, sends: 60, settled: 60, approvals: 60 },
    ]);
    const plan = await planOf(READ_WINDOWS, values);
    expect(plan).not.toMatch(/Seq Scan on otp_/);
    expect(plan).not.toContain('Rows Removed');
  });

  it('read known phones by their index', async () => {
    const plan = await planOf(READ_KNOWN_PHONES, [[harness.account.id], [Buffer.alloc(32)], '2024-01-01']);
    expect(plan).not.toContain('Seq Scan on otp_phones');
    expect(plan).not.toContain('Rows Removed');
  });
});

describe('the statements of an approval', () => {
  it('touch at most two partitions of each table', async () => {
    const { id } = await harness.sessions.create(harness.draft());
    await harness.database.query('UPDATE sessions SET otp_sends = 1 WHERE id = $1', [id]);
    const evidence = { tokens: [harness.tokenOf(id)], senders: [PHONE], trusted: true };
    await harness.database.transaction((tx) => harness.sessions.matchInbound(tx, 'live', [evidence]));
    const taken = await harness.database.transaction((tx) => new EventStore().markUndispatched(tx, 10));
    const partitions = await harness.database.transaction(async (tx) => {
      await new ApprovalStore(harness.keys).count(tx, taken);
      return lockedBy(tx);
    });
    expect(partitions.map(({ table }) => table)).toEqual(['outbound_messages', 'sessions']);
    // Today, and the adjacent day around midnight.
    for (const each of partitions) expect(each.partitions).toBeLessThanOrEqual(2);
  });
});
