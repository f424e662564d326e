import { MtMessageStore, OutboundStore, type AttemptRecord, type ReceiptRecord } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

// Two gateways that record outcomes and receipts of the same messages at the same time.

/** So many that the planner joins by a hash, which updates in the order of the batch. */
const COUNT = 100;
const SOON_MS = 20_000;
const WAITING = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let harness: SessionHarness;
let mtMessages: MtMessageStore;
/** In the order of their ids. */
let messages: readonly Uuid[];

beforeAll(async () => {
  harness = await openSessionHarness();
  mtMessages = new MtMessageStore(new EventStore(), harness.clock);
});
afterAll(() => harness.close());
beforeEach(async () => {
  for (const table of ['outbound_messages', 'submissions']) await harness.database.query(`DELETE FROM ${table}`);
  messages = Array.from({ length: COUNT }, () => harness.clock.newId()).sort();
  const session = await harness.sessions.create(harness.draft({ ttlSeconds: 300 }));
  await harness.database.transaction(async (tx) => {
    for (const id of messages) {
      await new OutboundStore().insert(tx, {
        id,
        sessionId: session.id,
        accountId: session.accountId,
        test: false,
        destination: PHONE,
        country: 'US',
        sender: '60606',
        textSealed: harness.keys.seal('message-text', 'code', id),
        createdAt: new Date(harness.clock.nowMs()),
        expiresAt: session.expiresAt,
      });
    }
  });
});

/** As a gateway claims them for the attempt with that number. */
const claimed = (attempt: number): Promise<unknown> =>
  harness.database.query(
    `UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, claimed_by = $1, attempts = $2,
       claimed_until = clock_timestamp() + interval '30 seconds'`,
    [harness.clock.newId(), attempt],
  );
const takenBack = (): Promise<unknown> =>
  harness.database.query(
    `UPDATE outbound_messages SET state = 'queued', next_attempt_at = clock_timestamp(), claimed_by = NULL, claimed_until = NULL`,
  );

const answered = (attempt: number, outcome: AttemptRecord['outcome']): Promise<Uuid[]> =>
  harness.database.transaction((tx) =>
    mtMessages.recordAttempts(
      tx,
      messages.map((id) => ({ id, attempt, carrier: 'north', link: { systemId: id }, outcome })),
    ),
  );

async function found(): Promise<readonly { state: string; attempts: number; count: number }[]> {
  return harness.database.query(
    'SELECT state, attempts, count(*)::int AS count FROM outbound_messages GROUP BY state, attempts',
  );
}

describe('the outcome that a former holder of a claim held over an outage', () => {
  const OUTCOMES: readonly AttemptRecord['outcome'][] = [
    { kind: 'submitted', smscMessageId: null, receiptId: null },
    { kind: 'refused', error: 'ESME_RINVDSTADR' },
    { kind: 'unknown', error: 'NO_RESPONSE' },
    { kind: 'busy', error: 'ESME_RTHROTTLED' },
  ];

  it.each(OUTCOMES)('changes nothing of a later attempt: $kind', async (outcome) => {
    await claimed(1);
    await takenBack();
    expect(await answered(1, outcome)).toEqual([]);
    expect(await found()).toEqual([{ state: 'queued', attempts: 1, count: COUNT }]);
    await claimed(2);
    expect(await answered(1, outcome)).toEqual([]);
    expect(await found()).toEqual([{ state: 'sending', attempts: 2, count: COUNT }]);
    expect(await answered(2, { kind: 'submitted', smscMessageId: null, receiptId: null })).not.toBeNull();
    await answered(1, outcome);
    expect(await found()).toEqual([{ state: 'submitted', attempts: 2, count: COUNT }]);
  });

  it('is recorded while nobody has taken the claim back, however long the outage was', async () => {
    await claimed(1);
    await harness.database.query(
      `UPDATE outbound_messages SET claimed_until = clock_timestamp() - interval '5 minutes'`,
    );
    await answered(1, { kind: 'submitted', smscMessageId: null, receiptId: null });
    expect(await found()).toEqual([{ state: 'submitted', attempts: 1, count: COUNT }]);
  });
});

describe('the receipt of an attempt that was repeated', () => {
  const named = (attempt: number): Promise<Uuid[]> =>
    harness.database.transaction((tx) =>
      mtMessages.recordAttempts(
        tx,
        messages.map((id) => {
          const outcome = { kind: 'submitted', smscMessageId: id, receiptId: `${attempt}-${id}` } as const;
          return { id, attempt, carrier: 'north', link: { systemId: id }, outcome };
        }),
      ),
    );
  const received = async (attempt: number, state: ReceiptRecord['state']): Promise<Set<string>> => {
    const receipts = messages.map((id) => ({
      ...{ carrier: 'north', smscMessageId: `${attempt}-${id}`, state, networkError: null },
    }));
    const { results } = await harness.database.transaction((tx) => mtMessages.applyReceipts(tx, receipts));
    return new Set(results);
  };

  beforeEach(async () => {
    await claimed(1);
    await takenBack();
    await claimed(2);
    await named(2);
    // The former holder of the claim records what the carrier answered.
    await named(1);
  });

  it('does not end the message when it was not delivered: the later one may be', async () => {
    expect(await received(1, 'undelivered')).toEqual(new Set(['late']));
    expect(await found()).toEqual([{ state: 'submitted', attempts: 2, count: COUNT }]);
    expect(await received(2, 'undelivered')).toEqual(new Set(['settled']));
    expect(await found()).toEqual([{ state: 'undelivered', attempts: 2, count: COUNT }]);
  });

  it('ends it when it was delivered', async () => {
    expect(await received(1, 'delivered')).toEqual(new Set(['settled']));
    expect(await received(2, 'undelivered')).toEqual(new Set(['late']));
    expect(await found()).toEqual([{ state: 'delivered', attempts: 2, count: COUNT }]);
  });
});

describe('two batches of receipts of the same messages, sent twice, in opposite orders', () => {
  const receiptOf =
    (attempt: string) =>
    (_: Uuid, index: number): ReceiptRecord => ({
      carrier: 'north',
      smscMessageId: `${attempt}${String(1_000 + index)}`,
      state: 'delivered',
      networkError: null,
    });

  /** Without the timeouts of a gateway, so that a busy machine ends no wait. */
  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: harness.ownerUrl });
    await client.connect();
    return client;
  }

  async function applied(receipts: readonly ReceiptRecord[]): Promise<unknown> {
    const client = await connected();
    const tx: Executor = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
    };
    try {
      await client.query('BEGIN');
      await mtMessages.applyReceipts(tx, receipts);
      await client.query('COMMIT');
      return 'committed';
    } catch (error) {
      return error instanceof pg.DatabaseError ? error.code : error;
    } finally {
      await client.end();
    }
  }

  it('lock in one order: neither is a deadlock', async () => {
    await harness.database.query(
      `UPDATE outbound_messages SET state = 'submitted', next_attempt_at = NULL, text_sealed = NULL, submitted_at = now()`,
    );
    const [first, second] = [messages.map(receiptOf('1')), [...messages].reverse().map(receiptOf('2'))];
    for (const [owners, receipts] of [
      [messages, first],
      [[...messages].reverse(), second],
    ] as const) {
      await harness.database.query(
        `INSERT INTO submissions (carrier, smsc_message_id, message_id, updated_at)
         SELECT 'north', id, owner, clock_timestamp() FROM unnest($1::text[], $2::uuid[]) AS named (id, owner)`,
        [receipts.map(({ smscMessageId }) => smscMessageId), owners],
      );
    }
    // A transaction sees the activity of the server as it was at its first look.
    const [holder, watcher] = await Promise.all([connected(), connected()]);
    await holder.query('ANALYZE outbound_messages');
    // Both have locked rows from their end of the list when these two in the middle are released.
    const middle = messages.slice(COUNT / 2 - 1, COUNT / 2 + 1);
    await holder.query('BEGIN');
    await holder.query('SELECT FROM outbound_messages WHERE id = ANY ($1::uuid[]) FOR UPDATE', [middle]);
    const both = Promise.all([first, second].map(applied));
    await until('both wait', SOON_MS, async () => {
      const { rows } = await watcher.query<{ count: number }>(WAITING);
      return rows[0]?.count === 2;
    });
    await holder.query('COMMIT');
    expect(await both).toEqual(['committed', 'committed']);
    await Promise.all([holder.end(), watcher.end()]);
    expect(await found()).toEqual([{ state: 'delivered', attempts: 0, count: COUNT }]);
  });
});
