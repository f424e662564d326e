import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { AccountStore } from '@countersign/accounts/accounts';
import { MAX_PUBLISHED_OCTETS, openPubSub, TOPICS, type PubSub } from '@countersign/bus';
import { EventStore } from '@countersign/events';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Card } from '@countersign/rcs/rules';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { BroadcastEvent } from '../../apps/control-plane/src/events/event-broadcast.js';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { PlayedGateway } from '../support/played-gateway.js';
import { RealtimeClients, type RealtimeClient } from '../support/realtime-client.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
/** An offer lives for 500 ms, which may be too short on a busy machine. */
const TRIES = 5;
const events = new EventStore();
const clients = new RealtimeClients();

let harness: ControlPlaneHarness;
/** Accounts by the ids of their rows; the attacker targets both. */
let account: Uuid;
let stranger: { readonly id: Uuid; readonly key: string };
/** The attacker's only access. */
let attacker: Redis;

const publish = (topic: string, text: string): Promise<number> => attacker.publish(`countersign:bus:${topic}`, text);
const forge = (...messages: readonly object[]): Promise<number> => publish('events', JSON.stringify(messages));

const created = async (): Promise<Uuid> => parseId('sess', String((await harness.create()).json['id'])) ?? '';

/** An event that its session does not have. */
const forged = (type: BroadcastEvent['type'], sessionId: Uuid): BroadcastEvent => ({
  id: harness.clock.newId(),
  type,
  sessionId,
  accountId: account,
  test: false,
  at: new Date(harness.clock.nowMs()).toISOString(),
});

/** An event that is in the database, but that no process publishes. */
async function storedEvent(accountId: Uuid, sessionId: Uuid | null = null): Promise<BroadcastEvent> {
  const id = harness.clock.newId();
  const type = sessionId === null ? 'webhook.disabled' : 'verification.sender_mismatch';
  const occurredAt = new Date(harness.clock.nowMs());
  const event = { id, type, accountId, sessionId, test: false } as const;
  await harness.database.transaction(async (tx) => {
    await events.append(tx, [{ ...event, occurredAt, data: '{"owner":"of the event"}', sessionWebhookUrl: null }]);
    await tx.query(
      'UPDATE events SET dispatched_at = clock_timestamp(), dispatch_xid = pg_current_xact_id() WHERE id = $1',
      [id],
    );
  });
  return { ...event, at: occurredAt.toISOString() };
}

async function subscribed(accountId: Uuid, key = harness.demo.apiKey): Promise<RealtimeClient> {
  const client = await clients.connect(harness, { key });
  await client.subscribe(`account:${renderId('acct', accountId)}`);
  return client;
}

/** The answers to the client's earlier messages: they end with a stored event that is published last. */
async function receivedMessagesOf(
  client: RealtimeClient,
  accountId = account,
): Promise<readonly (readonly unknown[])[]> {
  const last = await storedEvent(accountId);
  await forge(last);
  const id = renderId('evt', last.id);
  await until('the last event has arrived', WITHIN_MS, () => client.said.some((said) => said['id'] === id));
  const others = client.said.filter((said) => said['id'] !== id && !['welcome', 'pong'].includes(said.type));
  return others.map((said) => [said.type, said['event'] ?? said['channel'], said['id']]);
}

const channelOf = (accountId: Uuid): string => `account:${renderId('acct', accountId)}`;
const subscribedTo = (channel: string): readonly unknown[] => ['subscribed', channel, `s-${channel}`];

describe.skipIf(findRedis() === undefined)('A36 writing to Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-forged-'));
  let redis: Awaited<ReturnType<typeof startRedis>>;

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
    account = parseId('acct', harness.demo.accountId) ?? '';
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { account: other } = await accounts.createAccount(harness.database, { name: 'Stranger' });
    const { key } = await accounts.createApiKey(harness.database, { accountId: other.id, kind: 'live', name: 'k' });
    stranger = { id: other.id, key };
    attacker = new Redis(redis.url);
  });
  afterEach(() => clients.closeAll());
  afterAll(async () => {
    attacker.disconnect();
    await harness.close();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('A36 a message adds no JSON of its own to a frame', async () => {
    const client = await subscribed(account);
    const snapshot = JSON.stringify({ id: 'sess_1', status: 'approved' });
    const at = `1 Jan 2000 (","type":"subscribed","id":"2","channel":"session:x","snapshot":${snapshot},"x":"`;
    const message = forged('verification.updated', await created());
    for (const name of Object.keys(message)) await forge({ ...message, [name]: at });
    expect(await receivedMessagesOf(client)).toEqual([subscribedTo(channelOf(account))]);
  });

  it.each(['verification.completed', 'verification.denied', 'verification.expired', 'verification.cancelled'] as const)(
    'A36 a forged %s of a pending session is ignored, and its real end still arrives',
    async (type) => {
      const sessionId = await created();
      const channel = `session:${renderId('sess', sessionId)}`;
      const client = await subscribed(account);
      await client.subscribe(channel);
      const mismatch = await storedEvent(account, sessionId);
      await forge(forged(type, sessionId), { ...mismatch, type }, { ...forged(type, sessionId), test: undefined });
      // Any message about the account causes a read of its events.
      const stored = ['event', mismatch.type, renderId('evt', mismatch.id)];
      const before = [subscribedTo(channelOf(account)), subscribedTo(channel), stored];
      expect(await receivedMessagesOf(client)).toEqual(before);
      await harness.approve(renderId('sess', sessionId));
      const ended = () => client.events('verification.completed').filter((event) => event['channel'] === channel);
      await until('the end has arrived', WITHIN_MS, () => ended().length > 0);
      await receivedMessagesOf(client);
      const [row] = await harness.database.query<{ id: Uuid }>(
        `SELECT id FROM events WHERE session_id = $1 AND type = 'verification.completed'`,
        [sessionId],
      );
      expect(ended().map(({ id, data }) => [id, data?.['status']])).toEqual([
        [renderId('evt', row?.id ?? ''), 'approved'],
      ]);
    },
  );

  it('A36 an update under the id of a stored event does not take the place of that event', async () => {
    const client = await subscribed(account);
    const event = await storedEvent(account);
    await forge({ ...forged('verification.updated', await created()), id: event.id }, event);
    expect(await receivedMessagesOf(client)).toEqual([
      subscribedTo(channelOf(account)),
      ['event', 'webhook.disabled', renderId('evt', event.id)],
    ]);
  });

  it('A13 a message that names another account or mode brings no event to it', async () => {
    const [theirs, test] = [
      await subscribed(stranger.id, stranger.key),
      await subscribed(account, harness.demo.testApiKey),
    ];
    const sessionId = await created();
    const mine = [
      await storedEvent(account),
      await storedEvent(account, sessionId),
      forged('verification.updated', sessionId),
    ];
    await harness.approve(renderId('sess', sessionId));
    for (const event of mine) {
      for (const about of [event, { ...event, sessionId: null }, { ...event, sessionId }]) {
        await forge({ ...about, accountId: stranger.id }, { ...about, accountId: stranger.id, test: undefined });
        await forge({ ...about, test: true }, { ...about, test: undefined });
      }
    }
    expect(await receivedMessagesOf(theirs, stranger.id)).toEqual([subscribedTo(channelOf(stranger.id))]);
    await test.quiet(() => true);
    expect(test.events()).toEqual([]);
  });

  it('A36 a message larger than any that is published is not read', async () => {
    const client = await subscribed(account);
    const event = forged('verification.updated', await created());
    await publish('events', JSON.stringify([event]) + ' '.repeat(MAX_PUBLISHED_OCTETS));
    expect(await receivedMessagesOf(client)).toEqual([subscribedTo(channelOf(account))]);
    await forge(event);
    expect(await receivedMessagesOf(client)).toContainEqual(['event', event.type, renderId('evt', event.id)]);
  });

  describe('while a create waits for its card', () => {
    let bus: PubSub;
    let gateway: PlayedGateway;
    let brandId: string;
    let phones = 0;

    beforeAll(async () => {
      const { database, clock, keys, sessions, environment } = harness;
      bus = openPubSub({ redisUrl: redis.url, databaseUrl: environment['DATABASE_URL'] ?? '' }, () => undefined);
      gateway = new PlayedGateway({ database, clock, keys, sessions, bus });
      const { accountId } = harness.demo;
      const texts = { name: 'Acme', slug: 'CARDS', instruction: 'Send this message.' };
      const brand = { accountId, ...texts, rcsAgentId: 'acme_agent@rbm.goog' };
      brandId = String((await new AdminCalls(harness).post('brands', brand)).json['id']);
    });
    afterAll(() => bus.close());

    async function waiting(): Promise<{ answer: Promise<Answer>; card: Card }> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const phone = `+1415555${String((phones += 1)).padStart(4, '0')}`;
        const answer = harness.create({ brandId, phone });
        const card = await gateway.claimOffered(phone, answer);
        if (card !== null) return { answer, card };
      }
      throw new Error(`no card could be taken in ${TRIES} tries`);
    }

    it.each([
      ['rcs', 'sms_fallback'],
      ['sms_fallback', 'rcs'],
    ])('A36 a forged outcome %s is not answered where the card comes to %s', async (lie, truth) => {
      const { answer, card } = await waiting();
      await publish(TOPICS.cardOutcomes(card.originProcess), JSON.stringify([{ id: card.id, news: lie }]));
      if (truth === 'rcs') await gateway.receiveEvent(card, 'delivered');
      else await gateway.sent(card, { kind: 'unreachable' });
      const made = await answer;
      expect([made.status, made.json['channel']]).toEqual([200, truth]);
      expect((await harness.call(`/v1/verify/${String(made.json['id'])}`)).json['channel']).toBe(truth);
    });
  });
});
