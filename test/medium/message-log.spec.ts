import { MessageLog, type MessageFilter } from '@countersign/carriers/messages';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOwner } from '../support/database.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

const DAYS = 3;
const MESSAGES_A_DAY = 5_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

let harness: SessionHarness;
let session: Uuid;

/** Messages of one day in both directions; those that matched are of sessions that nobody looks for. */
async function fill(daysAgo: number): Promise<void> {
  const from = firstIdAt(harness.clock.nowMs() - daysAgo * DAY_MS);
  const id = `(substr($1::text, 1, 14) || '4' || substr(md5(n::text), 1, 3) || '-8' || substr(md5(n::text), 4, 3) || '-'
    || substr(md5(n::text), 8, 12))::uuid`;
  await harness.database.query(
    `INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding,
       text_sealed, fate, session_id)
     SELECT ${id}, 'in', 'north', gen_random_uuid(), '1415' || n, 1, 1, '60606', 0, '', f.fate,
       CASE WHEN f.fate = 'matched' THEN gen_random_uuid() END
     FROM generate_series(1, ${MESSAGES_A_DAY}) AS n,
       LATERAL (SELECT CASE WHEN n % 4 = 0 THEN 'no_token' ELSE 'matched' END AS fate) AS f`,
    [from],
  );
  await harness.database.query(
    `INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
       state, created_at, expires_at)
     SELECT ${id}, gen_random_uuid(), gen_random_uuid(), false, '+1', '+1', 'US', 'x', 'delivered', now(), now()
     FROM generate_series(1, ${MESSAGES_A_DAY}) AS n`,
    [from],
  );
}

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: DAYS });
  for (let day = 0; day < DAYS; day += 1) await fill(day);
  await asOwner(harness, 'ANALYZE messages, outbound_messages, sessions');
  ({ id: session } = await harness.sessions.create(harness.draft({ ttlSeconds: 300 })));
});
afterAll(() => harness.close());

/** How PostgreSQL goes about a page. */
async function planOf(filter: MessageFilter): Promise<string> {
  const lines: string[] = [];
  const explained = {
    query: async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
      const rows = await harness.database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, COSTS OFF) ${text}`,
        values,
      );
      lines.push(...rows.map((row) => row['QUERY PLAN']));
      return [];
    },
  };
  await new MessageLog(filter).list(explained, { limit: 20, startingAfter: null, ownerId: null });
  return lines.join('\n');
}

describe('a page of the message log', () => {
  it.each<[string, () => MessageFilter]>([
    ['all of them', () => ({})],
    ['one session', () => ({ sessionId: session })],
    ['one phone', () => ({ phone: PHONE })],
    ['one phone and fate', () => ({ phone: PHONE, fate: 'no_token' })],
    ['a fate that is rare', () => ({ fate: 'wrong_sender' })],
    ['what failed', () => ({ fate: 'failed' })],
  ])('of %s reads no more than it shows', async (_, filter) => {
    const plan = await planOf(filter());
    const read = [...plan.matchAll(/ on (?:outbound_)?messages_p.*rows=([\d.]+) loops/g)].map(([, rows]) =>
      Number(rows),
    );
    expect(read.length).toBeGreaterThan(0);
    const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows));
    expect(
      [...read, ...removed].filter((rows) => rows > 100),
      plan,
    ).toEqual([]);
  });
});
