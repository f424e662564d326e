import { DestinationStore } from '@countersign/carriers';
import { firstIdAt } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_CONVERSION } from '../../apps/control-plane/src/otp/guard.sql.js';
import { GuardStore } from '../../apps/control-plane/src/otp/guard.store.js';
import { openSessionRoom, PHONE, type SessionRoom } from '../support/session-room.js';

const PREFIX = PHONE.slice(0, -4);
const MESSAGES = 20_000;
const HOUR_MS = 3_600_000;

let room: SessionRoom;

beforeAll(async () => {
  room = await openSessionRoom({ pastDays: 25 });
  // As at a busy moment of a day of which the planner has no statistics yet; one message in a hundred is of our block.
  await room.database.query(
    `INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
       state, created_at, expires_at)
     SELECT (substr($1::text, 1, 14) || '4' || substr(md5(n::text), 1, 3) || '-8' || substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 8, 12))::uuid,
       $1::uuid, $2, false, $3, CASE WHEN n % 100 = 0 THEN $4 ELSE '+1' || n END, 'US', 'x', 'submitted', clock_timestamp(), clock_timestamp()
     FROM generate_series(1, ${MESSAGES}) AS n`,
    [firstIdAt(room.clock.nowMs()), room.account.id, PHONE, PREFIX],
  );
});
afterAll(() => room.close());

describe('the statements of a send', () => {
  it('leave nearly all partitions alone', async () => {
    const store = new GuardStore(new DestinationStore(() => room.clock.newId()), room.keys);
    const session = { accountId: room.account.id, phone: PHONE, country: 'US' };
    const locked = await room.database.transaction(async (tx) => {
      const send = { session, now: new Date(room.clock.nowMs()) };
      const open = await store.openLedger(tx, [send]);
      await store.writeLedger(tx, open);
      return tx.query<{ table: string; partitions: number }>(
        `SELECT split_part(relname, '_p', 1) AS table, count(DISTINCT relname)::int AS partitions
         FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
         WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition GROUP BY 1 ORDER BY 1`,
      );
    });
    expect(locked.map(({ table }) => table)).toEqual(['outbound_messages', 'sessions']);
    // The last hour: today, and its neighbour around midnight.
    for (const { partitions } of locked) expect(partitions).toBeLessThanOrEqual(2);
  });

  it('read the messages of their block, and no others', async () => {
    const nowMs = room.clock.nowMs();
    const bounds = [firstIdAt(nowMs - HOUR_MS), firstIdAt(nowMs + HOUR_MS), firstIdAt(nowMs - 2 * HOUR_MS)];
    const since = new Date(nowMs - HOUR_MS);
    const values = [room.account.id, PREFIX, ...bounds, since, since];
    const [counted] = await room.database.query(READ_CONVERSION, values);
    expect(counted).toEqual({ unconverted: MESSAGES / 100, recent: MESSAGES / 100, recentApproved: 0 });
    const plan = await room.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF) ${READ_CONVERSION}`,
      values,
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).not.toMatch(/Seq Scan on (outbound_messages|sessions)/);
    expect(text).not.toContain('Rows Removed');
    expect(text).toMatch(/account_id = .* AND \(destination_prefix = /);
  });
});
