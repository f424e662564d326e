import { firstIdAt, type Uuid } from '@countersign/ids';
import { QUICK_LOOK_SECONDS } from '@countersign/postgres/due-rows';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_DUE_DELIVERIES } from '../../apps/control-plane/src/webhooks/deliveries.sql.js';
import { LOCK_DUE } from '../../libs/carriers/src/outbound/outbound.sql.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

// A transaction with an old snapshot, such as a dump: indexes keep the entries of rows that were finished since.

const COUNT = 5_000;
const ALL_SECONDS = null;
/** A quick look reads fewer pages than one at all past times by this factor at least. */
const FEWER = 3;

let harness: SessionHarness;
let dump: pg.Client;
/** Before all rows, and behind all. */
let range: readonly [Uuid, Uuid];

beforeAll(async () => {
  harness = await openSessionHarness();
  dump = new pg.Client({ connectionString: harness.ownerUrl });
  await dump.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await dump.query('SELECT FROM outbound_messages');
  range = [firstIdAt(0), firstIdAt(harness.clock.nowMs() + 600_000)];
});
afterAll(async () => {
  await dump.end();
  await harness.close();
});

const newIds = (count: number): Uuid[] => Array.from({ length: count }, () => harness.clock.newId());

/** Shared pages that the statement reads. */
async function pagesOf(statement: string, values: readonly unknown[]): Promise<number> {
  const [row] = await harness.database.query<Record<'QUERY PLAN', [{ Plan: Record<string, number> }]>>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
    values,
  );
  const { Plan: plan } = row?.['QUERY PLAN'][0] ?? { Plan: {} };
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** Queued codes that are due since so many seconds and end after so many. */
const queueCodes = (ids: readonly Uuid[], dueSeconds: number, endSeconds: number): Promise<unknown> =>
  harness.database.query(
    `INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
       text_sealed, created_at, expires_at, next_attempt_at)
     SELECT id, id, id, false, $2, left($2, 4), 'US', '60606', '\\x00', now() - interval '1 hour',
       now() + make_interval(secs => $4), now() - make_interval(secs => $3)
     FROM unnest($1::uuid[]) AS id`,
    [ids, PHONE, dueSeconds, endSeconds],
  );

describe('due rows behind an old snapshot', () => {
  it.each([
    ['that may still be sent', 300, 300],
    ['that have ended', 300, -200],
  ])('are found past finished codes %s, by quick looks at few pages', async (_, dueSeconds, endSeconds) => {
    await queueCodes(newIds(COUNT), dueSeconds, endSeconds);
    await harness.database.query(
      `UPDATE outbound_messages SET state = 'submitted', text_sealed = NULL, next_attempt_at = NULL, submitted_at = now()
       WHERE state = 'queued'`,
    );
    const waiting = newIds(2);
    await queueCodes(waiting, 1, endSeconds);
    const values = [100, ...range, 25, false];
    const all = await pagesOf(LOCK_DUE, [...values, ALL_SECONDS]);
    expect(FEWER * (await pagesOf(LOCK_DUE, [...values, QUICK_LOOK_SECONDS]))).toBeLessThan(all);
    const found = await harness.database.query<{ id: Uuid }>(LOCK_DUE, [...values, QUICK_LOOK_SECONDS]);
    expect(found.map(({ id }) => id).sort()).toEqual([...waiting].sort());
    await harness.database.query('DELETE FROM outbound_messages WHERE id = ANY ($1::uuid[])', [waiting]);
  });

  it('are found past finished webhooks, by quick looks at few pages', async () => {
    const make = (ids: readonly Uuid[], dueSeconds: number): Promise<unknown> =>
      harness.database.query(
        `INSERT INTO deliveries (id, account_id, test, session_id, type, url, occurred_at, next_attempt_at)
         SELECT id, id, false, id, 'verification.completed', 'https://receiver.example/', now(), now() - make_interval(secs => $2)
         FROM unnest($1::uuid[]) AS id`,
        [ids, dueSeconds],
      );
    await make(newIds(COUNT), 300);
    await harness.database.query(
      `UPDATE deliveries SET status = 'succeeded', next_attempt_at = NULL, ended_at = now() WHERE status = 'pending'`,
    );
    const [waiting = '', late = ''] = newIds(2);
    await make([waiting], 1);
    const values = [500, range[0], [], [], [], 40_000];
    const all = await pagesOf(READ_DUE_DELIVERIES, [...values, ALL_SECONDS]);
    expect(FEWER * (await pagesOf(READ_DUE_DELIVERIES, [...values, QUICK_LOOK_SECONDS]))).toBeLessThan(all);
    await make([late], QUICK_LOOK_SECONDS + 10);
    const read = (seconds: number | null): Promise<unknown> =>
      harness.database.query(READ_DUE_DELIVERIES, [...values, seconds]);
    expect(await read(QUICK_LOOK_SECONDS)).toMatchObject([{ id: waiting, late: false }]);
    expect(await read(ALL_SECONDS)).toMatchObject([
      { id: late, late: true },
      { id: waiting, late: false },
    ]);
  });
});
