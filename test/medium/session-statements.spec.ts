import { createHash } from 'node:crypto';
import { firstIdAt } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { SessionStore, type InboundEvidence } from '@countersign/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEnd, listSessions, MAX_ROWS_READ } from '../../libs/session/src/session-list.sql.js';
import { LOCK_BY_DIGEST } from '../../libs/session/src/session.sql.js';
import { asOwner } from '../support/database.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 25 });
});
afterAll(() => harness.close());

/** The partitions of sessions and events, without their indexes, on which this transaction holds a lock. */
const lockedPartitions = async (tx: Executor): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>(
    `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
     WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};

const partitionsOf = async (table: string): Promise<number> => {
  const [row] = await harness.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = $1::regclass`,
    [table],
  );
  return row?.count ?? 0;
};

describe('the frequent statements', () => {
  it('lock at most three partitions of sessions when an SMS is matched', async () => {
    expect(await partitionsOf('sessions')).toBeGreaterThanOrEqual(18);
    const session = await harness.sessions.create(harness.draft());
    const evidence: InboundEvidence = {
      tokens: [harness.tokenOf(session.id)],
      senders: [PHONE],
      trusted: true,
    };
    const locked = await harness.database.transaction(async (tx) => {
      await harness.sessions.matchInbound(tx, 'live', [evidence]);
      return lockedPartitions(tx);
    });
    // Ids of the last 24 hours: today and yesterday, and tomorrow in the last minute of a day; events of today.
    expect(locked.filter((name) => name.startsWith('sessions')).length).toBeLessThanOrEqual(3);
    expect(locked.filter((name) => name.startsWith('events')).length).toBeLessThanOrEqual(1);
  });

  it('read only the partition of the ids', async () => {
    const session = await harness.sessions.create(harness.draft());
    const locked = await harness.database.transaction(async (tx) => {
      await harness.sessions.findMany(tx, [session.id]);
      return lockedPartitions(tx);
    });
    expect(locked).toHaveLength(1);
  });

  it('send a code and check it within the partition of its session', async () => {
    const session = await harness.sessions.create(harness.draft());
    const { accountId, id } = session;
    const sending = await harness.database.transaction(async (tx) => {
      const ready = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
      if (ready.kind === 'ready') await harness.sessions.addCode(tx, ready, '042137');
      return lockedPartitions(tx);
    });
    expect(sending).toHaveLength(1);
    const { sessions, locked } = watchedSessions();
    expect((await sessions.checkCode(liveTenant(accountId), id, '042137')).kind).toBe('approved');
    // The row of the session, and the event of today.
    expect(locked.map((name) => name.split('_')[0])).toEqual(['events', 'sessions']);
  });

  it('lock no further partitions for concurrent requests with ids of other days', async () => {
    const { accountId, id } = await harness.sessions.create(harness.draft());
    const others = [firstIdAt(0), firstIdAt(harness.clock.nowMs() - 20 * DAY_MS), firstIdAt(2 ** 47)];
    const { sessions, locked } = watchedSessions();
    const results = await Promise.all([
      ...[id, ...others].map((each) => sessions.find(liveTenant(accountId), each).then((found) => found?.id)),
      ...[id, ...others].map((each) =>
        sessions.checkCode(liveTenant(accountId), each, '042137').then(({ kind }) => kind),
      ),
      ...[id, ...others].map((each) => sessions.cancel(liveTenant(accountId), each)),
    ]);
    const unknown = <Answer>(answer: Answer): Answer[] => others.map(() => answer);
    expect(results).toEqual([
      ...[id, ...unknown(undefined)],
      ...[expect.stringMatching(/not_sent|not_pending/) as string, ...unknown('not_found')],
      ...['done', ...unknown('unknown')],
    ]);
    // The partitions of the session's day, and the event of the cancellation.
    expect(new Set(locked).size).toBeLessThanOrEqual(3);
  });

  it('read a page of recent sessions from the partitions of the last days', async () => {
    for (let made = 0; made < 3; made += 1) await harness.sessions.create(harness.draft());
    const { sessions, locked } = watchedSessions();
    const page = await sessions.list(liveTenant(harness.account.id), { limit: 2 });
    expect(page).toMatchObject({ sessions: [{}, {}], hasMore: true });
    // The last 24 hours, and tomorrow in the last minute of a day.
    expect(locked.length).toBeLessThanOrEqual(3);
    const { sessions: others, locked: lockedByOthers } = watchedSessions();
    await others.list(liveTenant(harness.account.id), { limit: 2, status: 'pending' });
    expect(lockedByOthers.length).toBeLessThanOrEqual(2);
  });
});

/** A session store that records the partitions that its statements and transactions lock. */
function watchedSessions(): { sessions: SessionStore; locked: string[] } {
  const { database, clock, keys } = harness;
  const locked: string[] = [];
  const transaction = <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      const result = await work(tx);
      locked.push(...(await lockedPartitions(tx)));
      return result;
    });
  const statements = {
    transaction,
    query: <Row extends object>(text: string, values?: readonly unknown[]) =>
      transaction((tx) => tx.query<Row>(text, values)),
  };
  const watched = { ...statements, reports: statements };
  return {
    sessions: new SessionStore({ database: watched, clock, keys, listener: { onEvents: () => undefined } }),
    locked,
  };
}

describe('on a day that has no statistics yet', () => {
  let today = '';

  beforeAll(async () => {
    const { database, account, clock } = harness;
    const { id } = await harness.sessions.create(harness.draft());
    const [partition] = await database.query<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM sessions WHERE id = $1`,
      [id],
    );
    today = partition?.name ?? '';
    // Autovacuum is off, so the planner has no statistics of the inserted rows.
    await asOwner(harness, `ALTER TABLE ${today} SET (autovacuum_enabled = off)`);
    // As the owner: so many rows may take a busy machine longer than a statement of a daemon may.
    await asOwner(
      harness,
      `INSERT INTO sessions (id, account_id, brand_id, phone, country, status, channel, token_digest, client_challenge,
         brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
         expires_at)
       SELECT (lpad(to_hex($2::bigint), 12, '0') || substr(md5(n::text), 1, 20))::uuid, $1, $1, '+14155552671', 'US',
         'pending', 'sms_fallback', sha256(n::text::bytea), repeat('ab', 32), 'ACME', 'Acme', 'Send this.',
         '+14155550100', true, '{}', 1, clock_timestamp(), clock_timestamp() + interval '90 seconds'
       FROM generate_series(1, 30000) AS n`,
      [account.id, clock.nowMs()],
    );
  });

  /** The lines of the plan that name the partition of today. */
  const planOfToday = async (text: string, values: readonly unknown[]): Promise<string[]> => {
    const plan = await harness.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
    return plan.map((row) => row['QUERY PLAN']).filter((line) => line.includes(today));
  };

  it('a digest is read by its index', async () => {
    const digests = Array.from({ length: 64 }, (_, at) =>
      createHash('sha256')
        .update(String(at * 400 + 1))
        .digest(),
    );
    const nowMs = harness.clock.nowMs();
    const lines = await planOfToday(LOCK_BY_DIGEST, [
      digests,
      firstIdAt(nowMs - DAY_MS),
      firstIdAt(nowMs + 60_000),
      false,
    ]);
    expect(lines.filter((line) => line.includes('pkey') || line.includes('Seq Scan'))).toEqual([]);
    expect(lines.some((line) => line.includes('token_digest'))).toBe(true);
  });

  it.each([
    ['any', false, 'account_id_id_idx'],
    ['approved', false, 'account_id_id_idx'],
    ['denied', false, 'account_id_status_id_idx'],
    ['cancelled', false, 'account_id_status_id_idx'],
    ['any', true, 'phone_id_idx'],
    ['approved', true, 'phone_id_idx'],
  ] as const)('live sessions of status %s, by phone %s, are listed by %s', async (status, byPhone, index) => {
    const { account, clock } = harness;
    const nowMs = clock.nowMs();
    const values = [account.id, firstIdAt(nowMs - DAY_MS), firstIdAt(nowMs + 60_000), 101];
    const lines = await planOfToday(
      listSessions(status, { byPhone, test: false }),
      byPhone ? [...values, PHONE] : values,
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !line.includes(`${today}_${index}`))).toEqual([]);
  });

  it.each([
    ['approved', false],
    ['approved', true],
    ['cancelled', true],
  ] as const)(
    'a page of status %s, by phone %s, of which nothing matches reads so many rows',
    async (status, byPhone) => {
      const { account, clock, database } = harness;
      const filter = { byPhone, test: false };
      const range = [account.id, firstIdAt(clock.nowMs() - DAY_MS), firstIdAt(clock.nowMs() + 60_000)];
      const phone = byPhone ? [PHONE] : [];
      const plan = await database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${listSessions(status, filter)}`,
        [...range, 26, ...phone],
      );
      const lines = plan.map((row) => row['QUERY PLAN']).filter((line) => line.includes(today));
      const read = lines.map((line) => Number(/rows=([\d.]+) /.exec(line)?.[1] ?? NaN));
      expect(read.reduce((sum, rows) => sum + rows, 0)).toBe(MAX_ROWS_READ);
      const ends = await database.query(findEnd(status, filter), [...range, MAX_ROWS_READ - 1, ...phone]);
      expect(ends).toHaveLength(1);
      expect(await database.query(findEnd(status, filter), [...range, 1_000_000, ...phone])).toEqual([]);
    },
  );

  it.each(['any', 'approved'] as const)('test sessions of status %s are listed by their own index', async (status) => {
    const { account, clock } = harness;
    const nowMs = clock.nowMs();
    const values = [account.id, firstIdAt(nowMs - DAY_MS), firstIdAt(nowMs + 60_000), 101];
    const lines = await planOfToday(listSessions(status, { byPhone: false, test: true }), values);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !line.includes(`${today}_account_id_id_idx1`))).toEqual([]);
  });
});
