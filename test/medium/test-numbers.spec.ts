import { MessageStore } from '@countersign/carriers/inbound';
import { MtMessageStore, OutboundStore } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Channel, Session } from '@countersign/session/rules';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestAnswers } from '../../apps/control-plane/src/test-numbers/test-answers.js';
import { TestCodes } from '../../apps/control-plane/src/test-numbers/test-codes.js';
import { TestPhones } from '../../apps/control-plane/src/test-numbers/test-phones.js';
import type { TestStep } from '../../apps/control-plane/src/test-numbers/test-step.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 8_000;

let harness: SessionHarness;
let answers: TestAnswers;
let codes: TestCodes;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 12 });
  answers = new TestAnswers(harness.clock, harness.keys, harness.sessions, new MessageStore());
  const mtMessages = new MtMessageStore(new EventStore(), harness.clock);
  codes = new TestCodes(harness.clock, mtMessages);
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['sessions', 'messages', 'outbound_messages', 'events']) {
    await harness.database.query(`DELETE FROM ${table}`);
  }
});

const throwing = {
  about: () => (error: unknown) => {
    throw error;
  },
};

const run = (step: TestStep) => harness.database.transaction(step);

/** Creates a session of a test key and moves its creation into the past. */
async function createAged(
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

async function queueCode(phone: string, test = true): Promise<Uuid> {
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

const countsByState = async (table: string): Promise<Record<string, number>> => {
  const column = table === 'events' ? 'type' : table === 'messages' ? 'fate' : 'state';
  const rows = await harness.database.query<{ state: string; count: number }>(
    `SELECT ${column} AS state, count(*)::int AS count FROM ${table} GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

async function ageSubmission(id: Uuid, seconds: number): Promise<void> {
  await harness.database.query(
    'UPDATE outbound_messages SET submitted_at = submitted_at - make_interval(secs => $2) WHERE id = $1',
    [id, seconds],
  );
}

describe('the phones of test numbers', () => {
  it('act one second after the creation of their session', async () => {
    const early = await createAged('+15005550001', 0);
    const due = await createAged('+15005550001', 1);
    expect(await run(answers.runDueActions)).toMatchObject({ count: 1, full: false });
    expect([await statusOf(early), await statusOf(due)]).toEqual(['pending', 'approved']);
    expect(await run(answers.runDueActions)).toMatchObject({ count: 0 });
  });

  it('do not act for live sessions, also of test numbers', async () => {
    const ids = [
      await createAged('+15005550001', 5, { test: false }),
      await createAged('+15005550002', 5, { test: false, channel: 'rcs' }),
      await createAged('+15005550005', 5, { test: false }),
    ];
    expect(await run(answers.runDueActions)).toMatchObject({ count: 0, eventIds: [] });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['pending', 'pending', 'pending']);
  });

  it('tap only if a card was sent', async () => {
    const forced = await createAged('+15005550003', 5, { channel: 'sms_fallback' });
    const card = await createAged('+15005550003', 5, { channel: 'rcs' });
    await run(answers.runDueActions);
    expect([await statusOf(forced), await statusOf(card)]).toEqual(['pending', 'denied']);
  });

  it('do not act for an expired session', async () => {
    const id = await createAged('+15005550001', 5);
    await harness.database.query(`UPDATE sessions SET expires_at = created_at + interval '1 second' WHERE id = $1`, [
      id,
    ]);
    expect(await run(answers.runDueActions)).toMatchObject({ count: 0 });
    expect(await statusOf(id)).toBe('expired');
  });

  it('send one SMS from a wrong phone, with one event', async () => {
    const id = await createAged('+15005550005', 5);
    for (let times = 0; times < 3; times++) await run(answers.runDueActions);
    expect(await statusOf(id)).toBe('pending');
    expect(await countsByState('messages')).toEqual({ wrong_sender: 1 });
    expect(await countsByState('events')).toEqual({ 'verification.sender_mismatch': 1 });
  });

  it('act once when several processes simulate them', async () => {
    const phones = ['+15005550001', '+15005550002', '+15005550003', '+15005550005'] as const;
    for (let each = 0; each < 30; each++) {
      await Promise.all(
        phones.map((phone) =>
          createAged(phone, 5, /[23]$/.test(phone) ? { channel: 'rcs' } : { channel: 'sms_fallback' }),
        ),
      );
    }
    let counted = 0;
    while (counted < 120) {
      const results = await Promise.all(Array.from({ length: 8 }, () => run(answers.runDueActions)));
      const before = counted;
      for (const { count } of results) counted += count;
      expect(counted).toBeGreaterThan(before);
    }
    expect(counted).toBe(120);
    expect(await countsByState('messages')).toEqual({ matched: 30, wrong_sender: 30 });
    expect(await countsByState('events')).toEqual({
      'verification.completed': 60,
      'verification.denied': 30,
      'verification.sender_mismatch': 30,
    });
  });
});

describe('the carrier of test keys', () => {
  it('submits a code at once, erases its text and writes an event', async () => {
    const id = await queueCode('+15005550006');
    const { eventIds } = await run(codes.submitQueued);
    expect(eventIds).toHaveLength(1);
    expect(
      await harness.database.query(
        'SELECT state, text_sealed, cost_usd::text AS cost FROM outbound_messages WHERE id = $1',
        [id],
      ),
    ).toEqual([{ state: 'submitted', text_sealed: null, cost: '0.000000' }]);
  });

  it('sends the receipt one second after the submission', async () => {
    const delivered = await queueCode('+15005550006');
    const undelivered = await queueCode('+15005550007');
    await run(codes.submitQueued);
    expect(await run(codes.recordReceipts)).toMatchObject({ count: 0 });
    await ageSubmission(delivered, 1);
    await ageSubmission(undelivered, 1);
    expect(await run(codes.recordReceipts)).toMatchObject({ count: 2 });
    expect(await countsByState('outbound_messages')).toEqual({ delivered: 1, undelivered: 1 });
    expect(await run(codes.recordReceipts)).toMatchObject({ count: 0 });
  });

  it('never submits a live code', async () => {
    await queueCode('+15005550006', false);
    expect(await run(codes.submitQueued)).toMatchObject({ count: 0 });
    expect(await countsByState('outbound_messages')).toEqual({ queued: 1 });
  });

  it('submits each code once when several processes simulate it', async () => {
    for (let each = 0; each < 60; each++) await queueCode('+15005550006');
    const results = await Promise.all(Array.from({ length: 8 }, () => run(codes.submitQueued)));
    const rest = await run(codes.submitQueued);
    const counts = [...results, rest].map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(await countsByState('events')).toEqual({ 'verification.otp_delivery': 60 });
  });
});

describe('the simulation of test numbers', () => {
  it('continues the work of a stopped process', async () => {
    const session = await createAged('+15005550001', 5);
    await queueCode('+15005550006');
    const testPhones = new TestPhones(
      harness.database,
      answers,
      codes,
      { notify: (ids) => void harness.notifiedEventIds.push(...ids) },
      throwing,
    );
    await until('the phone and the carrier have acted', WITHIN_MS, async () => {
      const { delivered } = await countsByState('outbound_messages');
      return delivered === 1 && (await statusOf(session)) === 'approved';
    });
    await testPhones.stop();
    expect(await countsByState('events')).toEqual({ 'verification.completed': 1, 'verification.otp_delivery': 2 });
    const events = await harness.database.query<{ id: Uuid }>('SELECT id FROM events');
    expect(harness.notifiedEventIds).toEqual(expect.arrayContaining(events.map(({ id }) => id)));
  });

  it('runs the other steps when one fails', async () => {
    await queueCode('+15005550006');
    const errors: unknown[] = [];
    const testPhones = new TestPhones(
      harness.database,
      { runDueActions: () => Promise.reject(new Error('no phone acts')) },
      codes,
      { notify: () => undefined },
      { about: () => (error) => void errors.push(error) },
    );
    testPhones.submitQueuedCodes();
    await until(
      'the code is delivered',
      WITHIN_MS,
      async () => (await countsByState('outbound_messages'))['delivered'] === 1,
    );
    await testPhones.stop();
    expect(errors.length).toBeGreaterThan(0);
  });

  it('does nothing after it is stopped', async () => {
    const testPhones = new TestPhones(
      { transaction: () => Promise.reject(new Error('a stopped simulation ran a step')) },
      answers,
      codes,
      { notify: () => undefined },
      throwing,
    );
    testPhones.scheduleAnswers();
    await testPhones.stop();
    testPhones.submitQueuedCodes();
    await testPhones.stop();
  });
});
