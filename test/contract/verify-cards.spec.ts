import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openPubSub, type PubSub } from '@countersign/bus';
import { findCards, type CardRecord } from '@countersign/rcs/offers';
import type { Card } from '@countersign/rcs/rules';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer, type Call } from '../support/control-plane-harness.js';
import { PlayedGateway } from '../support/played-gateway.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

/** A relay polls every 2 s; the rest is for a busy machine. */
const SOON_MS = 20_000;
const TRIES = 5;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bus: PubSub;
let gateway: PlayedGateway;
/** A brand with an agent; one that asks for a number, too. */
let brandId: string;
let numberedId: string;

beforeAll(async () => {
  // Queue and bus on the harness's own PostgreSQL: no gateway of another test consumes its notifications.
  harness = await ControlPlaneHarness.open({ REDIS_URL: '' });
  admin = new AdminCalls(harness);
  bus = openPubSub({ redisUrl: null, databaseUrl: harness.environment['DATABASE_URL'] ?? '' }, () => undefined);
  gateway = gatewayOn(bus);
  brandId = await brandWith('CARDS', {});
  numberedId = await brandWith('NUMBERS', { rcsNumberMatching: true });
});
afterAll(async () => {
  await bus.close();
  await harness.close();
});

function gatewayOn(line: PubSub): PlayedGateway {
  const { database, clock, keys, sessions } = harness;
  return new PlayedGateway({ database, clock, keys, sessions, bus: line });
}

async function brandWith(slug: string, changes: Readonly<Record<string, unknown>>): Promise<string> {
  const { accountId } = harness.demo;
  const texts = { name: 'Acme', slug, instruction: 'Send this message.' };
  const answer = await admin.post('brands', { accountId, ...texts, rcsAgentId: 'acme_agent@rbm.goog', ...changes });
  return String(answer.json['id']);
}

let phones = 0;
/** A new phone for each test: limits count cards by phone. */
const newPhone = (): string => `+1415555${String((phones += 1)).padStart(4, '0')}`;

const create = (changes: Readonly<Record<string, unknown>> = {}, call: Call = {}): Promise<Answer> =>
  harness.create({ brandId, phone: newPhone(), ...changes }, call);

/**
 * A create that waits, and its card, claimed by a gateway. On a busy machine a card may be withdrawn before it is
 * claimed: then another phone is tried.
 */
async function waiting(
  changes: Readonly<Record<string, unknown>> = {},
  call: Call = {},
  by = gateway,
): Promise<{ answer: Promise<Answer>; card: Card }> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const phone = newPhone();
    const answer = create({ phone, ...changes }, call);
    const card = await by.claimOffered(phone, answer);
    if (card !== null) return { answer, card };
  }
  throw new Error(`no card could be taken in ${TRIES} tries`);
}

async function cardOf(answer: Answer): Promise<CardRecord | undefined> {
  const id = parseId('sess', String(answer.json['id'])) ?? '';
  return (await findCards(harness.database, [id])).get(id);
}

const find = (answer: Answer): Promise<Answer> => harness.call(`/v1/verify/${String(answer.json['id'])}`);

describe('a create over RCS', () => {
  it('answers rcs and no link when its card was delivered; the session says so from then on', async () => {
    const { answer, card } = await waiting({ channel: 'rcs' });
    await gateway.sent(card);
    await gateway.receiveEvent(card, 'delivered');
    const made = await answer;
    expect([made.status, made.json['channel'], made.json['fallbackUri']]).toEqual([200, 'rcs', null]);
    expect((await find(made)).text).toBe(made.text);
    const listed = await harness.call(`/v1/verify?limit=1&phone=%2B${card.phone.slice(1)}`);
    expect(listed.json['data']).toEqual([made.json]);
  });

  it('prefers a card when the request does not say', async () => {
    const { answer, card } = await waiting();
    await gateway.receiveEvent(card, 'delivered');
    expect((await answer).json['channel']).toBe('rcs');
  });

  it('answers pending also when the card was tapped meanwhile, and the tap approves with its webhook', async () => {
    const receiver = await startReceiver();
    try {
      const { answer, card } = await waiting({ webhookUrl: receiver.url });
      await gateway.receiveEvent(card, 'tap', { kind: 'approve' });
      const made = await answer;
      expect(made.json).toMatchObject({ status: 'pending', channel: 'rcs', approvedAt: null });
      const found = await find(made);
      expect(found.json).toMatchObject({ status: 'approved', channel: 'rcs', fallbackUri: null });
      await until('the webhook has come', SOON_MS, () => receiver.received.length > 0);
      const webhook = JSON.parse(receiver.received[0]?.body ?? '') as { type: string; data: object };
      expect([webhook.type, webhook.data]).toEqual(['verification.completed', found.json]);
    } finally {
      await receiver.close();
    }
  });

  it('answers sms_fallback with the link when the platform cannot reach the phone', async () => {
    const { answer, card } = await waiting();
    await gateway.sent(card, { kind: 'unreachable' });
    const made = await answer;
    expect([made.status, made.json['channel']]).toEqual([200, 'sms_fallback']);
    expect(made.json['fallbackUri']).toMatch(/^sms:.+\?body=AUTH-CARDS-/);
  });

  it('answers sms_fallback where there is no gateway, and no gateway finds the card later', async () => {
    const made = await create();
    expect([made.status, made.json['channel'], made.json['status']]).toEqual([200, 'sms_fallback', 'pending']);
    expect(await cardOf(made)).toMatchObject({ state: 'withdrawn', finalChannel: 'sms_fallback' });
  });

  it('offers none for "channel":"sms_fallback", nor for a brand without an agent', async () => {
    for (const changes of [{ channel: 'sms_fallback' }, { brandId: await brandWith('PLAIN', { rcsAgentId: null }) }]) {
      const made = await create(changes);
      expect([made.json['channel'], await cardOf(made)]).toEqual(['sms_fallback', undefined]);
    }
  });

  it('offers none for a test key, whose magic numbers simulate one', async () => {
    const test = { key: harness.demo.testApiKey };
    const made = await create({ phone: '+15005550002' }, test);
    const other = await create({}, test);
    expect([made.json['channel'], other.json['channel']]).toEqual(['rcs', 'sms_fallback']);
    expect([await cardOf(made), await cardOf(other)]).toEqual([undefined, undefined]);
  });
});

describe('number matching', () => {
  it('shows two digits in the answer of create alone; they approve on the card', async () => {
    const receiver = await startReceiver();
    try {
      const { answer, card } = await waiting({ brandId: numberedId, webhookUrl: receiver.url });
      await gateway.receiveEvent(card, 'delivered');
      const made = await answer;
      const { matchCode, ...session } = made.json;
      expect(matchCode).toMatch(/^[1-9][0-9]$/);
      const pending = await find(made);
      expect(pending.json).toEqual(session);
      await gateway.receiveEvent(card, 'tap', { kind: 'number', number: String(matchCode) });
      const approved = await find(made);
      expect(approved.json['status']).toBe('approved');
      await until('the webhook has come', SOON_MS, () => receiver.received.length > 0);
      const record = await admin.get(`sessions/${String(made.json['id'])}`);
      for (const text of [approved.text, receiver.received[0]?.body, record.text]) {
        expect(text).not.toContain('matchCode');
      }
    } finally {
      await receiver.close();
    }
  });

  it('denies by a wrong number', async () => {
    const { answer, card } = await waiting({ brandId: numberedId });
    await gateway.receiveEvent(card, 'delivered');
    const made = await answer;
    const wrong = gateway.answers.suggestionsOf(card).find(({ text }) => text !== made.json['matchCode']);
    await gateway.receiveEvent(card, 'tap', { kind: 'number', number: wrong?.text ?? '' });
    expect((await find(made)).json['status']).toBe('denied');
  });

  it('shows no digits where no card can come', async () => {
    const { answer, card } = await waiting({ brandId: numberedId });
    await gateway.sent(card, { kind: 'unreachable' });
    expect((await answer).json).not.toHaveProperty('matchCode');
    expect((await create({ brandId: numberedId })).json).not.toHaveProperty('matchCode');
    expect((await create({ brandId: numberedId, channel: 'sms_fallback' })).json).not.toHaveProperty('matchCode');
  });
});

describe('a create with an Idempotency-Key', () => {
  /** A waiting create with an idempotency key, and the function that repeats it. */
  async function keyed(): Promise<{
    answer: Promise<Answer>;
    card: Card;
    changes: Readonly<Record<string, unknown>>;
    call: Call;
  }> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const changes = { phone: newPhone(), brandId: numberedId };
      const call = { headers: { 'idempotency-key': randomUUID() } };
      const answer = create(changes, call);
      const card = await gateway.claimOffered(changes.phone, answer);
      if (card !== null) return { answer, card, changes, call };
    }
    throw new Error(`no card could be taken in ${TRIES} tries`);
  }

  it('is in progress while it waits, and then replayed with its number; one card is offered', async () => {
    const { answer, card, changes, call } = await keyed();
    const meanwhile = await create(changes, call);
    expect([meanwhile.status, meanwhile.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    await gateway.receiveEvent(card, 'delivered');
    const made = await answer;
    const again = await create(changes, call);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([made.text, 'true']);
    expect(again.json['matchCode']).toMatch(/^[1-9][0-9]$/);
    const [row] = await harness.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM cards WHERE phone = $1',
      [card.phone],
    );
    expect(row?.count).toBe(1);
  });

  it('that was interrupted continues with the same session and the same card', async () => {
    const { answer, card, changes, call } = await keyed();
    await gateway.receiveEvent(card, 'delivered');
    const made = await answer;
    await harness.database.query(
      `UPDATE idempotency_keys SET status = NULL, body_sealed = NULL, claimed_by = $1, claimed_until = clock_timestamp()
       WHERE resource_id = $1`,
      [card.id],
    );
    const again = await create(changes, call);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([made.text, undefined]);
    expect((await gateway.cards.sends.claimOffers([card.id])).length).toBe(0);
  });
});

describe('usage', () => {
  it('counts a session under its final channel', async () => {
    const channels = async (): Promise<Record<string, number>> =>
      (await harness.call('/v1/usage')).json['channels'] as Record<string, number>;
    const { rcs: before = 0, sms_fallback: fallenBefore = 0 } = await channels();
    const { answer, card } = await waiting();
    await gateway.receiveEvent(card, 'delivered');
    await answer;
    const refused = await waiting();
    await gateway.sent(refused.card, { kind: 'unreachable' });
    await refused.answer;
    expect(await channels()).toEqual({ rcs: before + 1, sms_fallback: fallenBefore + 1 });
  });
});

describe('a session that does not end by its card', () => {
  /** A create that has fallen back; its card may still arrive, but its outcome is not reported any more. */
  async function fallenBack(): Promise<{ made: Answer; card: Card }> {
    const { answer, card } = await waiting();
    await gateway.sent(card, { kind: 'unknown', because: 'no answer in time' });
    const made = await answer;
    await harness.database.query('UPDATE cards SET errand = NULL, errand_due_at = NULL WHERE id = $1', [card.id]);
    return { made, card };
  }

  const cancel = (made: Answer): Promise<Answer> =>
    harness.call(`/v1/verify/${String(made.json['id'])}`, { method: 'DELETE' });

  it('has its card revoked, unless the card is known to be delivered', async () => {
    const { made } = await fallenBack();
    const { answer, card } = await waiting();
    await gateway.receiveEvent(card, 'delivered');
    const arrived = await answer;
    await cancel(arrived);
    await cancel(made);
    await until('its card is to be revoked', SOON_MS, async () => (await cardOf(made))?.command === 'revoke');
    await until('every event is dispatched', SOON_MS, async () => {
      const waits = await harness.database.query('SELECT id FROM events WHERE dispatched_at IS NULL');
      return waits.length === 0;
    });
    expect((await cardOf(arrived))?.command).toBeNull();
  });

  it('by a late tap on the card itself has it closed by a text', async () => {
    const { made, card } = await fallenBack();
    await gateway.receiveEvent(card, 'tap', { kind: 'deny' });
    const found = await find(made);
    expect(found.json).toMatchObject({ status: 'denied', channel: 'sms_fallback' });
    expect((await cardOf(made))?.command).toBe('close_denied');
  });
});

describe('engineers', () => {
  it('see the card of a session, and null without one', async () => {
    const { answer, card } = await waiting();
    await gateway.sent(card);
    await gateway.receiveEvent(card, 'delivered');
    const made = await answer;
    const { json } = await admin.get(`sessions/${String(made.json['id'])}`);
    const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(json['card']).toEqual({
      state: 'sent',
      reason: null,
      agentId: 'acme_agent',
      numberMatching: false,
      settledAs: 'rcs',
      offeredAt: moment,
      sentAt: moment,
      deliveredAt: moment,
      readAt: null,
      tappedAt: null,
      command: null,
    });
    const plain = await create({ channel: 'sms_fallback' });
    const page = await admin.get(`sessions?limit=2`);
    expect(page.json['data']).toMatchObject([{ id: plain.json['id'], card: null }, { card: { settledAs: 'rcs' } }]);
  });

  it('pause cards: sessions fall back at once and nothing is offered', async () => {
    await admin.post('queues/cards/pause');
    try {
      const made = await create();
      expect([made.json['channel'], await cardOf(made)]).toEqual(['sms_fallback', undefined]);
    } finally {
      await admin.post('queues/cards/resume');
    }
    const { answer, card } = await waiting();
    await gateway.receiveEvent(card, 'delivered');
    expect((await answer).json['channel']).toBe('rcs');
  });

  it('see creates that wait, and how they ended', async () => {
    const metrics = async (): Promise<string> => (await fetch(`${harness.opsUrl}/metrics`)).text();
    const { answer, card } = await waiting();
    expect(await metrics()).toMatch(/^countersign_creates_waiting\{.*\} 1$/m);
    await gateway.receiveEvent(card, 'delivered');
    await answer;
    expect(await metrics()).toMatch(/^countersign_cards_decided_total\{end="rcs",.*\} [1-9]\d*$/m);
    expect(await metrics()).toMatch(/^countersign_creates_waiting\{.*\} 0$/m);
  });
});

describe('while a create waits', () => {
  it('the database may be lost: 503, and never a wrong answer', async () => {
    const { answer } = await waiting();
    harness.line.freeze();
    try {
      const made = await answer;
      expect([made.status, made.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    } finally {
      harness.line.thaw();
    }
  });

  it('the control plane may stop: it answers first', async () => {
    const other = await harness.neighbour();
    const { answer, card } = await waiting({}, { baseUrl: other.baseUrl });
    await gateway.sent(card);
    await other.stop();
    const made = await answer;
    expect([made.status, made.json['channel']]).toEqual([200, 'sms_fallback']);
    expect((await find(made)).json['channel']).toBe('sms_fallback');
  });
});

describe.skipIf(findRedis() === undefined)('with queue and bus in Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-cards-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('a create whose card arrives is rcs; without Redis it still falls back', async () => {
    const redis = await startRedis({ dataDir, log: () => undefined });
    const other = await harness.neighbour({ REDIS_URL: redis.url });
    const line = openPubSub({ redisUrl: redis.url, databaseUrl: '' }, () => undefined);
    const near = gatewayOn(line);
    try {
      const { answer, card } = await waiting({}, { baseUrl: other.baseUrl }, near);
      await near.receiveEvent(card, 'delivered');
      expect((await answer).json['channel']).toBe('rcs');
      redis.child.kill('SIGSTOP');
      const made = await create({}, { baseUrl: other.baseUrl });
      expect([made.status, made.json['channel']]).toEqual([200, 'sms_fallback']);
    } finally {
      redis.child.kill('SIGCONT');
      await line.close();
      await other.stop();
      await redis.stop();
    }
  });
});
