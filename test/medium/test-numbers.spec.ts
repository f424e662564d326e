import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore, OutboundStore } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Channel, Session } from '@countersign/session/rules';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestAnswers } from '../../apps/control-plane/src/test-numbers/test-answers.js';
import { TestCodes } from '../../apps/control-plane/src/test-numbers/test-codes.js';
import { TestNumbers } from '../../apps/control-plane/src/test-numbers/test-phones.js';
import type { TestStep } from '../../apps/control-plane/src/test-numbers/test-step.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 8_000;

let harness: SessionHarness;
let answers: TestAnswers;
let codes: TestCodes;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 12 });
  answers = new TestAnswers({ ...harness, messages: new MessageStore() });
  const ledger = new MtMessageStore({ events: new EventStore(), newId: () => harness.clock.newId() });
  codes = new TestCodes({ ...harness, ledger });
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['sessions', 'messages', 'outbound_messages', 'events']) {
    await harness.database.query(`DELETE FROM ${table}`);
  }
});

const run = (step: TestStep) => harness.database.transaction(step);

/** A session of a test key, made this long ago. */
async function aged(
  phone: string,
  seconds: number,
  changes: { channel?: Channel; test?: boolean } = {},
): Promise<Uuid> {
  const { id } = await harness.sessions.create(harness.draft({ phone, test: true, ...changes }));
  await harness.database.query(
    'UPDATE sessions SET created_at = created_at - make_interval(secs => $2) WHERE id = $1',
    [id, seconds],
  );
  return id;
}

async function statusOf(id: Uuid): Promise<Session['status'] | undefined> {
  return (await harness.sessions.findMany(harness.database, [id]))[0]?.status;
}

async function queued(phone: string, test = true): Promise<Uuid> {
  const session = await harness.sessions.create(harness.draft({ phone, test }));
  const id = harness.clock.newId();
  await new OutboundStore().insert(harness.database, {
    id,
    sessionId: session.id,
    accountId: session.accountId,
    test,
    destination: phone,
    country: 'US',
    sender: '+14155550100',
    textSealed: harness.keys.seal('message-text', '424242 is your Acme code.', id),
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
  });
  return id;
}

const statesOf = async (table: string): Promise<Record<string, number>> => {
  const column = table === 'events' ? 'type' : table === 'messages' ? 'fate' : 'state';
  const rows = await harness.database.query<{ state: string; count: number }>(
    `SELECT ${column} AS state, count(*)::int AS count FROM ${table} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

async function submittedSecondsAgo(id: Uuid, seconds: number): Promise<void> {
  await harness.database.query(
    'UPDATE outbound_messages SET submitted_at = submitted_at - make_interval(secs => $2) WHERE id = $1',
    [id, seconds],
  );
}

describe('the phones of test numbers', () => {
  it('act once their second has passed, and not before', async () => {
    const early = await aged('+15005550001', 0);
    const due = await aged('+15005550001', 1);
    expect(await run(answers.act)).toMatchObject({ count: 1, full: false });
    expect([await statusOf(early), await statusOf(due)]).toEqual(['pending', 'approved']);
    expect(await run(answers.act)).toMatchObject({ count: 0 });
  });

  it('leave live sessions alone, whatever their number', async () => {
    const ids = [
      await aged('+15005550001', 5, { test: false }),
      await aged('+15005550002', 5, { test: false, channel: 'rcs' }),
      await aged('+15005550005', 5, { test: false }),
    ];
    expect(await run(answers.act)).toMatchObject({ count: 0, eventIds: [] });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['pending', 'pending', 'pending']);
  });

  it('tap only cards that were sent', async () => {
    const forced = await aged('+15005550003', 5, { channel: 'sms_fallback' });
    const card = await aged('+15005550003', 5, { channel: 'rcs' });
    await run(answers.act);
    expect([await statusOf(forced), await statusOf(card)]).toEqual(['pending', 'denied']);
  });

  it('come too late for a session whose time is up', async () => {
    const id = await aged('+15005550001', 5);
    await harness.database.query(`UPDATE sessions SET expires_at = created_at + interval '1 second' WHERE id = $1`, [
      id,
    ]);
    expect(await run(answers.act)).toMatchObject({ count: 0 });
    expect(await statusOf(id)).toBe('expired');
  });

  it('send one SMS from a wrong phone, of which is told once', async () => {
    const id = await aged('+15005550005', 5);
    for (let times = 0; times < 3; times++) await run(answers.act);
    expect(await statusOf(id)).toBe('pending');
    expect(await statesOf('messages')).toEqual({ wrong_sender: 1 });
    expect(await statesOf('events')).toEqual({ 'verification.sender_mismatch': 1 });
  });

  it('act once, however many processes play them', async () => {
    const phones = ['+15005550001', '+15005550002', '+15005550003', '+15005550005'] as const;
    for (let each = 0; each < 30; each++) {
      await Promise.all(
        phones.map((phone) => aged(phone, 5, /[23]$/.test(phone) ? { channel: 'rcs' } : { channel: 'sms_fallback' })),
      );
    }
    let counted = 0;
    while (counted < 120) {
      const results = await Promise.all(Array.from({ length: 8 }, () => run(answers.act)));
      const before = counted;
      for (const { count } of results) counted += count;
      expect(counted).toBeGreaterThan(before);
    }
    expect(counted).toBe(120);
    expect(await statesOf('messages')).toEqual({ matched: 30, wrong_sender: 30 });
    expect(await statesOf('events')).toEqual({
      'verification.completed': 60,
      'verification.denied': 30,
      'verification.sender_mismatch': 30,
    });
  });
});

describe('the carrier of test keys', () => {
  it('takes a code at once, erases its text, and tells of it', async () => {
    const id = await queued('+15005550006');
    const { eventIds } = await run(codes.submit);
    expect(eventIds).toHaveLength(1);
    expect(
      await harness.database.query(
        'SELECT state, text_sealed, cost_usd::text AS cost FROM outbound_messages WHERE id = $1',
        [id],
      ),
    ).toEqual([{ state: 'submitted', text_sealed: null, cost: '0.000000' }]);
  });

  it('sends the receipt a second later, and not before', async () => {
    const delivered = await queued('+15005550006');
    const undelivered = await queued('+15005550007');
    await run(codes.submit);
    expect(await run(codes.settle)).toMatchObject({ count: 0 });
    await submittedSecondsAgo(delivered, 1);
    await submittedSecondsAgo(undelivered, 1);
    expect(await run(codes.settle)).toMatchObject({ count: 2 });
    expect(await statesOf('outbound_messages')).toEqual({ delivered: 1, undelivered: 1 });
    expect(await run(codes.settle)).toMatchObject({ count: 0 });
  });

  it('never takes a live code', async () => {
    await queued('+15005550006', false);
    expect(await run(codes.submit)).toMatchObject({ count: 0 });
    expect(await statesOf('outbound_messages')).toEqual({ queued: 1 });
  });

  it('takes each code once, however many processes play it', async () => {
    for (let each = 0; each < 60; each++) await queued('+15005550006');
    const results = await Promise.all(Array.from({ length: 8 }, () => run(codes.submit)));
    const rest = await run(codes.submit);
    const counts = [...results, rest].map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(await statesOf('events')).toEqual({ 'verification.otp_delivery': 60 });
  });
});

describe('test numbers', () => {
  it('go on where a process that ended left off', async () => {
    const session = await aged('+15005550001', 5);
    await queued('+15005550006');
    const actor = new TestNumbers({
      database: harness.database,
      answers,
      codes,
      onEvents: (ids) => void harness.told.push(...ids),
      onError: (error) => {
        throw error;
      },
    });
    await until('the phone and the carrier have acted', WITHIN_MS, async () => {
      const { delivered } = await statesOf('outbound_messages');
      return delivered === 1 && (await statusOf(session)) === 'approved';
    });
    await actor.stop();
    expect(await statesOf('events')).toEqual({ 'verification.completed': 1, 'verification.otp_delivery': 2 });
    const events = await harness.database.query<{ id: Uuid }>('SELECT id FROM events');
    expect(harness.told).toEqual(expect.arrayContaining(events.map(({ id }) => id)));
  });

  it('go on with one step when another fails', async () => {
    await queued('+15005550006');
    const errors: unknown[] = [];
    const actor = new TestNumbers({
      database: harness.database,
      answers: { act: () => Promise.reject(new Error('no phone acts')) },
      codes,
      onEvents: () => undefined,
      onError: (error) => void errors.push(error),
    });
    actor.takeCode();
    await until(
      'the code is delivered',
      WITHIN_MS,
      async () => (await statesOf('outbound_messages'))['delivered'] === 1,
    );
    await actor.stop();
    expect(errors.length).toBeGreaterThan(0);
  });

  it('do nothing once they are stopped', async () => {
    const actor = new TestNumbers({
      database: { transaction: () => Promise.reject(new Error('a stopped actor looked')) },
      answers,
      codes,
      onEvents: () => undefined,
      onError: (error) => {
        throw error;
      },
    });
    actor.expect();
    await actor.stop();
    actor.takeCode();
    await actor.stop();
  });
});
