import { createHash } from 'node:crypto';
import { firstIdAt, type Executor } from '@countersign/postgres';
import type { InboundEvidence } from '@countersign/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCK_BY_DIGEST } from '../../libs/session/src/session.sql.js';
import { openSessionRoom, PHONE, type SessionRoom } from '../support/session-room.js';

let room: SessionRoom;

beforeAll(async () => {
  room = await openSessionRoom({ pastDays: 25 });
});
afterAll(() => room.close());

/** The partitions of sessions and events, their indexes left out, on which this transaction holds any lock. */
const lockedPartitions = async (tx: Executor): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>(
    `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
     WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};

const partitionsOf = async (table: string): Promise<number> => {
  const [row] = await room.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = $1::regclass`,
    [table],
  );
  return row?.count ?? 0;
};

describe('the hot statements', () => {
  it('leave nearly all partitions alone when an SMS is matched', async () => {
    expect(await partitionsOf('sessions')).toBeGreaterThanOrEqual(18);
    const session = await room.sessions.create(room.draft());
    const evidence: InboundEvidence = { ref: 0, tokens: [room.tokenOf(session.id)], senders: [PHONE], trusted: true };
    const locked = await room.database.transaction(async (tx) => {
      await room.sessions.matchInbound(tx, [evidence]);
      return lockedPartitions(tx);
    });
    // Ids of the last 24 hours: today and yesterday, and tomorrow in the last minute of a day; events of today.
    expect(locked.filter((name) => name.startsWith('sessions')).length).toBeLessThanOrEqual(3);
    expect(locked.filter((name) => name.startsWith('events')).length).toBeLessThanOrEqual(1);
  });

  it('look up a digest by its index on a day that has no statistics yet', async () => {
    const { database, account, clock } = room;
    const [today] = await database.query<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM sessions WHERE id = $1`,
      [(await room.sessions.create(room.draft())).id],
    );
    // The statistics that autovacuum has not made yet, and a day's worth of rows that it has not seen.
    await database.query(`ALTER TABLE ${today?.name ?? ''} SET (autovacuum_enabled = off)`);
    await database.query(
      `INSERT INTO sessions (id, account_id, brand_id, phone, country, status, channel, token_digest, client_challenge,
         brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
         expires_at)
       SELECT (lpad(to_hex($2::bigint), 12, '0') || substr(md5(n::text), 1, 20))::uuid, $1, $1, '+14155552671', 'US',
         'pending', 'sms_fallback', sha256(n::text::bytea), repeat('ab', 32), 'ACME', 'Acme', 'Send this.',
         '+14155550100', true, '{}', 1, clock_timestamp(), clock_timestamp() + interval '90 seconds'
       FROM generate_series(1, 30000) AS n`,
      [account.id, clock.nowMs()],
    );
    const digests = Array.from({ length: 64 }, (_, at) =>
      createHash('sha256')
        .update(String(at * 400 + 1))
        .digest(),
    );
    const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${LOCK_BY_DIGEST}`, [
      digests,
      firstIdAt(clock.nowMs() - 24 * 60 * 60 * 1000),
      firstIdAt(clock.nowMs() + 60_000),
    ]);
    const lines = plan.map((row) => row['QUERY PLAN']).filter((line) => line.includes(today?.name ?? ''));
    expect(lines.filter((line) => line.includes('pkey') || line.includes('Seq Scan'))).toEqual([]);
    expect(lines.some((line) => line.includes('token_digest'))).toBe(true);
  });

  it('read the partition of the ids alone', async () => {
    const session = await room.sessions.create(room.draft());
    const locked = await room.database.transaction(async (tx) => {
      await room.sessions.findMany(tx, [session.id]);
      return lockedPartitions(tx);
    });
    expect(locked).toHaveLength(1);
  });
});
