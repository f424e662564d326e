import type { Executor } from '@countersign/postgres';
import type { InboundEvidence } from '@countersign/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it('read the partition of the ids alone', async () => {
    const session = await room.sessions.create(room.draft());
    const locked = await room.database.transaction(async (tx) => {
      await room.sessions.findMany(tx, [session.id]);
      return lockedPartitions(tx);
    });
    expect(locked).toHaveLength(1);
  });
});
