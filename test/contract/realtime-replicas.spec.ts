import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { lineTo } from '../support/line.js';
import { RealtimeClient, type Said } from '../support/realtime-client.js';

/** The burst of a connection's message limit. */
const BURST = 20;
const CONNECTIONS = 50;
const SESSIONS = 100;
/** More than are dispatched until a control plane has connected to Redis again. */
const TRIES = 100;

const open: RealtimeClient[] = [];
let harness: ControlPlaneHarness;
let neighbour: Awaited<ReturnType<ControlPlaneHarness['neighbour']>>;

async function connect(baseUrl: string): Promise<RealtimeClient> {
  const client = await RealtimeClient.open(harness, { baseUrl });
  open.push(client);
  return client;
}
const created = async (): Promise<string> => String((await harness.create()).json['id']);

afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

/** How often one subscriber received the approval: by the snapshot, or by an event. */
function timesShown(client: RealtimeClient, id: string, answer: Said): number {
  const channel = `session:${id}`;
  const events = client.events('verification.completed').filter((event) => event['channel'] === channel);
  return Number(answer.snapshot?.['status'] === 'approved') + events.length;
}

/** As many at a time as the harness has connections for. */
async function approveAll(ids: readonly string[]): Promise<void> {
  const left = [...ids];
  const approveNext = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await harness.approve(id);
  };
  await Promise.all(Array.from({ length: 4 }, approveNext));
}

async function raceApprovals(): Promise<void> {
  const ids = await Promise.all(Array.from({ length: SESSIONS }, created));
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, at) => connect(at % 2 === 0 ? harness.baseUrl : neighbour.baseUrl)),
  );
  const subscribing = clients.map(async (client, at) => {
    const wanted = Array.from({ length: BURST }, (_, nth) => ids[(at * BURST + nth) % SESSIONS] ?? '');
    const answers = await Promise.all(wanted.map((id) => client.subscribe(`session:${id}`)));
    return { client, seen: wanted.map((id, nth) => ({ id, answer: answers[nth] ?? { type: 'none' } })) };
  });
  await approveAll(ids);
  for (const { client, seen } of await Promise.all(subscribing)) {
    await client.quiet(() => seen.every(({ id, answer }) => timesShown(client, id, answer) >= 1));
    expect(seen.map(({ id, answer }) => timesShown(client, id, answer))).toEqual(seen.map(() => 1));
  }
}

function bothTell(redisUrl: () => string): void {
  beforeAll(async () => {
    harness = await ControlPlaneHarness.open({ REDIS_URL: redisUrl() });
    neighbour = await harness.neighbour();
  });
  afterAll(async () => {
    await neighbour.stop();
    await harness.close();
  });

  it('both send the events of either, under the same id', async () => {
    const [here, there] = [await connect(harness.baseUrl), await connect(neighbour.baseUrl)];
    const id = await created();
    await Promise.all([here, there].map((client) => client.subscribe(`session:${id}`)));
    await harness.call(`/v1/verify/${id}`, { method: 'DELETE' });
    const cancelled = await here.event('verification.cancelled');
    expect(await there.event('verification.cancelled')).toEqual(cancelled);
  });

  it('inform each of 1,000 subscribers that race their approvals, and each once', raceApprovals, 120_000);

  it('send an expiry', async () => {
    const client = await connect(neighbour.baseUrl);
    const id = await created();
    await client.subscribe(`session:${id}`);
    await harness.database.query(
      `UPDATE sessions SET expires_at = date_trunc('milliseconds', now()) WHERE status = 'pending'`,
    );
    expect((await client.event('verification.expired')).data).toMatchObject({ id, status: 'expired' });
    await client.ask({ type: 'ping', id: 1 });
    expect(client.events('verification.expired')).toHaveLength(1);
  });
}

describe('two control planes on PostgreSQL alone', () => bothTell(() => ''));

const idsOf = (client: RealtimeClient): unknown[] => client.events().map(({ id }) => id);

describe.skipIf(findRedis() === undefined)('with a Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-realtime-'));
  let redis: Awaited<ReturnType<typeof startRedis>>;

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  describe('two control planes', () => bothTell(() => redis.url));

  it('a control plane that missed it finds the approval when it reads the session again', async () => {
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
    const line = await lineTo(redis.url);
    const cutOff = await harness.neighbour({ REDIS_URL: line.url });
    try {
      const [client, witness] = [await connect(cutOff.baseUrl), await connect(harness.baseUrl)];
      const id = await created();
      await Promise.all([client, witness].map((each) => each.subscribe(`session:${id}`)));
      await line.cut();
      await harness.approve(id);
      const found = await client.event('verification.completed');
      expect(found.data).toMatchObject({ id, status: 'approved' });
      expect(await witness.event('verification.completed')).toEqual(found);
    } finally {
      for (const client of open.splice(0)) client.close();
      await cutOff.stop();
      await line.close();
      await harness.close();
    }
  }, 90_000);

  it('another one repeats after the last event those that its control plane missed before', async () => {
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
    const line = await lineTo(redis.url);
    const cutOff = await harness.neighbour({ REDIS_URL: line.url });
    const channel = `account:${harness.demo.accountId}`;
    try {
      const [client, witness] = [await connect(cutOff.baseUrl), await connect(harness.baseUrl)];
      await Promise.all([client, witness].map((each) => each.subscribe(channel)));
      const approveNew = async (): Promise<void> => harness.approve(await created());
      await line.cut();
      await approveNew();
      await witness.quiet(() => witness.events().length === 1);
      await line.mend();
      // The first of these that it receives.
      for (let tries = 0; client.events().length === 0 && tries < TRIES; tries += 1) {
        await approveNew();
        await witness.quiet(() => witness.events().length === tries + 2);
      }
      client.close();
      const resumed = await connect(harness.baseUrl);
      await resumed.ask({ type: 'subscribe', id: 'r', channel, resumeAfter: idsOf(client).at(-1) });
      await resumed.ask({ type: 'ping', id: 'p' });
      expect([...idsOf(client), ...idsOf(resumed)].sort()).toEqual(idsOf(witness).sort());
    } finally {
      for (const each of open.splice(0)) each.close();
      await cutOff.stop();
      await line.close();
      await harness.close();
    }
  }, 90_000);
});
