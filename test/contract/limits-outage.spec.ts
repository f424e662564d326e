import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { AccountStore, type KeyLimits } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const SESSION = '/v1/verify/sess_00000000000000000000000000';
/** Time limit of an answer while the limiter's store is frozen: 500 ms for the store, the rest for a busy machine. */
const ANSWER_MS = 5_000;
const HEAL_MS = 20_000;

let harness: ControlPlaneHarness;

const keyWith = async (limits: KeyLimits): Promise<string> => {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  return (await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'limited', limits })).key;
};

/** Whether the control plane counts alone, by its metrics. */
async function away(): Promise<boolean> {
  const metrics = await (await fetch(`${harness.opsUrl}/metrics`)).text();
  const [, value] = /^\w*limiter_away(?:{[^}]*})? (\d)$/m.exec(metrics) ?? [];
  if (value === undefined) throw new Error('no metric says whether the limiter is away');
  return value === '1';
}

async function timed(ask: () => Promise<Answer>): Promise<Answer> {
  const startMs = performance.now();
  const answer = await ask();
  expect(performance.now() - startMs).toBeLessThan(ANSWER_MS);
  return answer;
}

describe.skipIf(findRedis() === undefined)('with the limits in Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-limits-'));
  let redis: Awaited<ReturnType<typeof startRedis>>;

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
  });
  afterAll(async () => {
    await harness.close();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** The expected answers while the store is unavailable for any reason. */
  async function expectGoingOn(): Promise<void> {
    const key = await keyWith({ create: 2 });
    const { id, ...created } = (await timed(() => harness.create({}, { key }))).json;
    expect(created['status']).toBe('pending');
    const target = `/v1/verify/${String(id)}`;
    const found = await timed(() => harness.call(target, { key }));
    expect([found.status, found.headers['ratelimit-policy']]).toEqual([200, '"default";q=600;w=60, "poll";q=60;w=60']);
    const sent = await timed(() => harness.call(`${target}/send-sms`, { key, method: 'POST' }));
    expect([sent.status, sent.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(sent.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(sent.headers['ratelimit']).toMatch(/^"default";r=597;t=\d+$/);
    expect((await timed(() => harness.create({}, { key }))).status).toBe(200);
    const refused = await timed(() => harness.create({}, { key }));
    expect([refused.status, refused.code]).toEqual([429, 'RATE_LIMITED']);
    expect((await timed(() => harness.call(SESSION, { key: null }))).status).toBe(401);
  }

  const expectCountingTogether = async (): Promise<void> => {
    await until('the limiter counts with all others again', HEAL_MS, async () => !(await away()));
    const key = await keyWith({ create: 1 });
    expect((await harness.create({}, { key })).status).toBe(200);
    expect((await harness.create({}, { key })).status).toBe(429);
  };

  it('and Redis frozen, reads and creates go on under this process’s own quotas, and no code is sent', async () => {
    expect(await away()).toBe(false);
    redis.child.kill('SIGSTOP');
    try {
      await expectGoingOn();
      expect(await away()).toBe(true);
    } finally {
      redis.child.kill('SIGCONT');
    }
    await expectCountingTogether();
  });

  it('and Redis stopped, it is the same, until Redis is back', async () => {
    const port = Number(new URL(redis.url).port);
    await redis.stop();
    await expectGoingOn();
    redis = await startRedis({ dataDir, log: () => undefined, port });
    await expectCountingTogether();
  });

  it('the count outlives the control plane', async () => {
    const key = await keyWith({ create: 1 });
    expect((await harness.create({}, { key })).status).toBe(200);
    await harness.stop();
    await harness.start();
    expect((await harness.create({}, { key })).status).toBe(429);
  });

  it('no key and no phone number is in it', async () => {
    const client = new Redis(redis.url);
    try {
      const names = await client.keys('*');
      expect(names.some((name) => name.startsWith('countersign:limit:'))).toBe(true);
      for (const name of names) expect(name).not.toMatch(/csk_|\+\d{7}|sess_/);
    } finally {
      client.disconnect();
    }
  });
});

describe('with the limits in PostgreSQL', () => {
  beforeAll(async () => {
    harness = await ControlPlaneHarness.open({ REDIS_URL: '' });
  });
  afterAll(() => harness.close());

  it('and PostgreSQL away, an answer is 503 and still says how the limits stand', async () => {
    const key = await keyWith({});
    await harness.call(SESSION, { key });
    harness.line.freeze();
    try {
      const answer = await harness.create({}, { key });
      expect([answer.status, answer.code, answer.headers['retry-after']]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
      expect(answer.headers['ratelimit']).toMatch(/^"default";r=\d+;t=\d+, "create";r=\d+;t=\d+$/);
    } finally {
      harness.line.thaw();
    }
    await until('the limiter counts with all others again', HEAL_MS, async () => !(await away()));
  });
});
