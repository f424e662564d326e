import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type LimiterStore, openLimiter, openLimiterStore } from '@countersign/bus';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

// An attacker who had the password of Redis leaves values under the keys of the limits.

const PREFIX = 'countersign:limit:';
const WINDOW_SECONDS = 60;
const TEN_YEARS_SECONDS = 315_360_000;

/** Each writes a value that no limiter writes. */
const FOREIGN: Readonly<Record<string, (redis: Redis, key: string) => Promise<unknown>>> = {
  'used up for ten years': (redis, key) => redis.set(key, 1_000_000, 'EX', TEN_YEARS_SECONDS),
  'used up without an end': (redis, key) => redis.set(key, 1_000_000),
  'below zero': (redis, key) => redis.set(key, -1_000_000, 'EX', WINDOW_SECONDS),
  'beyond any number': (redis, key) => redis.set(key, '9223372036854775807', 'EX', WINDOW_SECONDS),
  'no number': (redis, key) => redis.set(key, 'x', 'EX', WINDOW_SECONDS),
  'a list': (redis, key) => redis.rpush(key, 'x'),
  'a hash': (redis, key) => redis.hset(key, 'x', 'x'),
};

describe.skipIf(findRedis() === undefined)('limits in Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-limits-'));
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let harness: ControlPlaneHarness;
  let attacker: Redis;
  let stores: readonly [LimiterStore, LimiterStore];

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
    attacker = new Redis(redis.url);
    const open = (): Promise<LimiterStore> => openLimiterStore({ redisUrl: redis.url, databaseUrl: '' });
    stores = [await open(), await open()];
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    attacker.disconnect();
    await harness.close();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it.each(Object.entries(FOREIGN))('A36 a limit whose value is %s is counted anew', async (_, write) => {
    const key = `${PREFIX}default:admin:root`;
    await attacker.del(key);
    await write(attacker, key);
    expect((await new AdminCalls(harness).get('accounts')).status).toBe(200);
    expect(await attacker.get(key)).toBe('1');
    const endsSeconds = await attacker.ttl(key);
    expect(endsSeconds).toBeGreaterThan(0);
    expect(endsSeconds).toBeLessThanOrEqual(WINDOW_SECONDS);
  });

  it('A36 no value keeps limits from being checked when a process starts', async () => {
    await attacker.rpush(`${PREFIX}probe`, 'x');
    const errors: unknown[] = [];
    const limiter = await openLimiter({ redisUrl: redis.url, databaseUrl: '' }, (error) => errors.push(error));
    expect([limiter.away, errors]).toEqual([false, []]);
    for (const key of await attacker.keys(`${PREFIX}probe*`)) {
      await attacker.del(key);
      await attacker.rpush(key, 'x');
    }
    await limiter.probeOnce();
    expect([limiter.away, errors]).toEqual([false, []]);
    await limiter.close();
  });

  it('A36 whatever was stored, concurrent counts of two processes are exact, and a true count is continued', async () => {
    const truth = fc.record({ count: fc.nat(50), endsMs: fc.integer({ min: 30_000, max: 1_000 * WINDOW_SECONDS }) });
    const foreign = fc.constantFrom(...Object.values(FOREIGN));
    const points = fc.array(fc.nat(3), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.option(fc.oneof(truth, foreign)), points, async (before, added) => {
        const key = randomUUID();
        if (typeof before === 'function') await before(attacker, PREFIX + key);
        else if (before !== null) await attacker.set(PREFIX + key, before.count, 'PX', before.endsMs);
        const counts = await Promise.all(
          added.map((some, at) => (at % 2 === 0 ? stores[0] : stores[1]).add(key, some, WINDOW_SECONDS)),
        );
        const start = typeof before === 'function' || before === null ? 0 : before.count;
        const total = added.reduce((sum, some) => sum + some, start);
        expect(Math.max(...counts.map(({ consumed }) => consumed))).toBe(total);
        expect(await attacker.get(PREFIX + key)).toBe(String(total));
        // Each sum was answered after exactly the points that it contains.
        const sorted = counts.map(({ consumed }, at) => ({ consumed, points: added[at] ?? 0 }));
        sorted.sort((a, b) => a.consumed - b.consumed || b.points - a.points);
        let sum = start;
        for (const one of sorted) expect(one.consumed).toBe((sum += one.points));
        for (const { resetMs } of counts) {
          expect(resetMs).toBeGreaterThan(0);
          expect(resetMs).toBeLessThanOrEqual(1_000 * WINDOW_SECONDS);
        }
      }),
    );
  });
});
