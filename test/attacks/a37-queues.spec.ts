import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pingQueue, queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

// An attacker who had a gateway's access to the queues leaves job schedulers, large jobs and foreign values in them.

const WITHIN_MS = 25_000;
/** More than one run of the sweeper removes. */
const SCHEDULERS = 30;
const OFTEN_MS = 1_000;

describe.each(['PostgreSQL', ...(findRedis() === undefined ? [] : ['Redis'])])('queues on %s', (store) => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-queues-'));
  let redis: Awaited<ReturnType<typeof startRedis>> | null = null;
  let harness: ControlPlaneHarness;
  let queues: readonly Queue[] = [];

  beforeAll(async () => {
    if (store === 'Redis') redis = await startRedis({ dataDir, log: () => undefined });
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis?.url ?? '' });
    const { DATABASE_URL: databaseUrl = '' } = harness.ofGateway;
    const connection = queueConnection({ databaseUrl, redisUrl: redis?.url ?? null }, 'producer');
    queues = Object.values(QUEUES).map((name) => new Queue(name, { connection, prefix: QUEUE_PREFIX }));
    for (const queue of queues) {
      queue.on('error', () => undefined);
      await queue.waitUntilReady();
    }
  });
  afterAll(async () => {
    for (const queue of queues) await queue.close();
    await harness.close();
    await redis?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('A37 a job scheduler of an attacker ends with the next sweep of a control plane, its jobs too, logged once', async () => {
    await harness.stop();
    const ids = Array.from({ length: SCHEDULERS }, (_, at) => `mine:${at}`);
    for (const queue of queues) {
      for (const id of ids)
        await queue.upsertJobScheduler(id, { every: OFTEN_MS }, { name: 'mine', data: { ids: [] } });
      expect(await queue.getJobSchedulersCount()).toBe(SCHEDULERS);
    }
    const before = harness.log.length;
    await harness.start();
    await until('no job scheduler is left', WITHIN_MS, async () => {
      const left = await Promise.all(queues.map((queue) => queue.getJobSchedulersCount()));
      return left.every((count) => count === 0);
    });
    const lines = harness.log.slice(before).filter((line) => line.includes('removed: job scheduler'));
    expect(lines.map((line) => /queue ([\w-]+): /.exec(line)?.[1]).sort()).toEqual(
      queues.map(({ name }) => name).sort(),
    );
    // A scheduler adds its next job when a job of it is taken.
    await until('none of their jobs waits', WITHIN_MS, async () => {
      const waiting = await Promise.all(queues.map((queue) => queue.getDelayedCount()));
      return waiting.every((count) => count === 0);
    });
  });
});

describe('queues on PostgreSQL', () => {
  let harness: ControlPlaneHarness;
  /** As the role of gateways. */
  let gateway: pg.Client;
  let jobs = 0;

  beforeAll(async () => {
    harness = await ControlPlaneHarness.open({ REDIS_URL: '' });
    gateway = new pg.Client({ connectionString: harness.ofGateway['DATABASE_URL'] });
    await gateway.connect();
  });
  afterAll(async () => {
    await gateway.end();
    await harness.close();
  });

  /** `column` is set to the SQL expression `value`. */
  const addJob = (column: string, value: string): Promise<unknown> =>
    gateway.query(
      `INSERT INTO bullmq.job (queue, id, seq, name, state, added_at_ms, ${column})
       VALUES ($1, $2, $3, 'ring', 'delayed', 1, ${value})`,
      [QUEUES.webhooks, `mine-${(jobs += 1)}`, 1_000_000 + jobs],
    );

  it.each([
    ['data', `('[' || repeat('{},', 100000) || '{}]')::jsonb`],
    // A few KB as stored.
    ['data', `to_jsonb(ARRAY[1e100000, 1e100001])`],
    ['opts', `jsonb_build_object('x', repeat('x', 200000))`],
    ['progress', `to_jsonb(repeat('x', 200000))`],
    ['return_value', `to_jsonb(repeat('x', 200000))`],
    ['stacktrace', `to_jsonb(repeat('x', 200000))`],
    ['failed_reason', `repeat('x', 200000)`],
    ['deferred_failure', `repeat('x', 200000)`],
    ['parent_key', `repeat('x', 200000)`],
  ])('A37 a job of too many octets in %s is refused by the table: %s', async (column, value) => {
    await expect(addJob(column, value)).rejects.toMatchObject({ code: '23514', constraint: 'countersign_job_bound' });
  });

  it('A37 a job is refused when it grows, and one with as many ids as a notification has is not', async () => {
    const ids = Array.from({ length: 500 }, () => harness.clock.newId());
    await addJob('data', `'${JSON.stringify({ ids })}'::jsonb`);
    await expect(
      gateway.query(`UPDATE bullmq.job SET data = data || jsonb_build_object('x', repeat('x', 200000)) WHERE id = $1`, [
        `mine-${jobs}`,
      ]),
    ).rejects.toMatchObject({ code: '23514' });
  });

  it('A37 a job whose counts are at their end, and a number of events that is none, are removed, and wakes go on', async () => {
    await harness.stop();
    await gateway.query(
      `INSERT INTO bullmq.job (queue, id, seq, name, state, added_at_ms, attempts_started)
       VALUES ($1, 'first', -1, 'ring', 'waiting', 1, 2147483647)`,
      [QUEUES.webhooks],
    );
    await gateway.query(
      `INSERT INTO bullmq.meta (queue, field, value) VALUES ($1, 'opts.maxLenEvents', 'abc')
       ON CONFLICT (queue, field) DO UPDATE SET value = 'abc'`,
      [QUEUES.webhooks],
    );
    await harness.start();
    await until('both are removed', WITHIN_MS, async () => {
      const jobs = await gateway.query(`SELECT FROM bullmq.job WHERE id = 'first'`);
      const limits = await gateway.query(`SELECT FROM bullmq.meta WHERE value = 'abc'`);
      return jobs.rowCount === 0 && limits.rowCount === 0;
    });
  });

  it('A37 a pause of a queue ends with the next sweep of a control plane', async () => {
    await harness.stop();
    await gateway.query(`INSERT INTO bullmq.meta (queue, field, value) VALUES ($1, 'paused', '1')`, [QUEUES.webhooks]);
    await harness.start();
    await until('the queue is not paused', WITHIN_MS, async () => {
      const { rowCount } = await gateway.query(`SELECT FROM bullmq.meta WHERE field = 'paused'`);
      return rowCount === 0;
    });
  });
});

describe.skipIf(findRedis() === undefined)('queues on Redis', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-jobs-'));
  const base = `${QUEUE_PREFIX}:${QUEUES.webhooks}:`;
  const large = 'x'.repeat(4 * 1024 * 1024);
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let harness: ControlPlaneHarness;
  let attacker: Redis;

  beforeAll(async () => {
    redis = await startRedis({ dataDir, log: () => undefined });
    harness = await ControlPlaneHarness.open({ REDIS_URL: redis.url });
    attacker = new Redis(redis.url);
  });
  afterAll(async () => {
    attacker.disconnect();
    await harness.close();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const sentOctets = async (): Promise<number> =>
    Number(/total_net_output_bytes:(\d+)/.exec(await attacker.info('stats'))?.[1]);

  /** Job ids that a worker has not finished. */
  async function unfinished(): Promise<number> {
    const waiting = await Promise.all(['wait', 'active'].map((name) => attacker.llen(base + name)));
    return waiting.reduce((sum, count) => sum + count, await attacker.zcard(`${base}prioritized`));
  }

  const fields = { name: 'mine', data: '{"ids":[]}', opts: '{}', timestamp: '1' };

  it('A37 of the jobs of an attacker no octet is read but ids, and each is done once', async () => {
    await harness.stop();
    const bad: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      data: { ...fields, data: `{"ids":["${large}"]}` },
      opts: { ...fields, opts: JSON.stringify({ large }) },
      name: { ...fields, name: large },
      other: { ...fields, stacktrace: large, returnvalue: large, [large]: large },
      json: { ...fields, data: '{"ids":["a",]}' },
      parent: { ...fields, parent: 'x', parentKey: 'x', deid: 'x' },
      scheduled: { ...fields, rjk: large },
      options: { ...fields, opts: '[' },
      progress: { ...fields, progress: 'x' },
    };
    for (const [id, job] of Object.entries(bad)) {
      await attacker.hset(base + id, job);
      await attacker.lpush(`${base}wait`, id);
    }
    await attacker.set(`${base}type`, large);
    await attacker.sadd(`${base}data:dependencies`, 'x');
    await attacker.lpush(`${base}wait`, 'type', `1${large}`, `2${large}`);
    await attacker.zadd(`${base}prioritized`, 1, `3${large}`, 2, 'prior');
    await attacker.lpush(`${base}active`, `4${large}`);
    await attacker.sadd(`${base}stalled`, `4${large}`, `5${large}`);
    await attacker.zadd(`${base}marker`, 0, '0');
    // Else the next check of active jobs is half a minute away.
    await attacker.del(`${base}stalled-check`);
    const before = await sentOctets();
    await harness.start();
    await until('all jobs are done', WITHIN_MS, async () => (await unfinished()) === 0);
    expect((await sentOctets()) - before).toBeLessThan(large.length);
    for (const id of [...Object.keys(bad), 'type', 'prior'])
      expect([id, await attacker.exists(base + id)]).toEqual([id, 0]);
    expect(await attacker.zcard(`${base}failed`)).toBe(0);
  });

  it('A37 a value of a wrong type under a key of a queue leaves a control plane ready, is logged and is removed', async () => {
    await harness.stop();
    const names = [
      'wait',
      'active',
      'prioritized',
      'delayed',
      'stalled',
      'events',
      'meta',
      'marker',
      'repeat',
      'failed',
    ];
    for (const name of names) {
      await attacker.del(base + name);
      await attacker.set(base + name, 'x');
    }
    await attacker.set(`${base}id`, 'x');
    const connection = queueConnection({ databaseUrl: '', redisUrl: redis.url }, 'producer');
    const queue = new Queue(QUEUES.webhooks, { connection, prefix: QUEUE_PREFIX });
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    await attacker.set(`${base}meta`, 'x');
    await pingQueue(queue.backend);
    await queue.close();
    const before = harness.log.length;
    await harness.start();
    await until('it is ready', WITHIN_MS, async () => (await fetch(`${harness.opsUrl}/readyz`)).ok);
    await until('each is removed', WITHIN_MS, async () => {
      const types = await Promise.all([...names, 'id'].map((name) => attacker.type(base + name)));
      return !types.slice(0, -1).includes('string') && (await attacker.get(`${base}id`)) !== 'x';
    });
    const lines = harness.log.slice(before).filter((line) => line.includes(QUEUES.webhooks));
    const logged = lines.flatMap((line) => /removed: ([\w, -]+);/.exec(line)?.[1]?.split(', ') ?? []);
    for (const name of [...names, 'id']) expect(logged).toContain(name);
    // The queue works again.
    const { id } = (await harness.create()).json;
    await harness.approve(String(id));
    await until('the job of the approval is done', WITHIN_MS, async () => (await unfinished()) === 0);
  });

  it('A37 jobs are added behind a stream at its end, foreign values under the next ids and a limit that is none', async () => {
    await harness.stop();
    await attacker.del(`${base}events`);
    await attacker.xadd(`${base}events`, '18446744073709551615-18446744073709551615', 'a', 'b');
    await attacker.hset(`${base}meta`, 'opts.maxLenEvents', 'abc');
    await attacker.set(`${base}id`, 100);
    await attacker.mset(Array.from({ length: 20 }, (_, at) => [base + String(101 + at), 'x']).flat());
    const connection = queueConnection({ databaseUrl: '', redisUrl: redis.url }, 'producer');
    const queue = new Queue(QUEUES.webhooks, { connection, prefix: QUEUE_PREFIX });
    queue.on('error', () => undefined);
    const added = await queue.addBulk([
      { name: 'ring', data: { ids: [] } },
      { name: 'ring', data: { ids: [] } },
    ]);
    expect(added.map(({ id }) => id)).toEqual(['101', '102']);
    await queue.close();
    await attacker.del(`${base}events`);
    await attacker.xadd(`${base}events`, '18446744073709551615-18446744073709551615', 'a', 'b');
    await attacker.hset(`${base}meta`, 'opts.maxLenEvents', 'abc');
    await attacker.set(`${base}122`, 'x');
    await harness.start();
    await until('the jobs are done', WITHIN_MS, async () => (await unfinished()) === 0);
    await until('the stream and the limit are removed', WITHIN_MS, async () => {
      const last = (await attacker.xrevrange(`${base}events`, '+', '-', 'COUNT', 1))[0]?.[0] ?? '';
      return (
        !last.startsWith('18446744073709551615') && (await attacker.hget(`${base}meta`, 'opts.maxLenEvents')) !== 'abc'
      );
    });
  });

  it('A37 without memory a job is refused, and the counter of job ids keeps its value', async () => {
    await harness.stop();
    await attacker.set(`${base}id`, 200);
    const connection = queueConnection({ databaseUrl: '', redisUrl: redis.url }, 'producer');
    const queue = new Queue(QUEUES.webhooks, { connection, prefix: QUEUE_PREFIX });
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    await attacker.config('SET', 'maxmemory', '1mb');
    await expect(queue.add('ring', { ids: [] })).rejects.toThrow('OOM');
    expect(await attacker.get(`${base}id`)).toBe('200');
    await attacker.config('SET', 'maxmemory', '0');
    expect((await queue.add('ring', { ids: [] })).id).toBe('201');
    await queue.close();
    await harness.start();
  });

  it('A37 a pause, long ids of schedulers and a marker of an attacker are removed', async () => {
    await harness.stop();
    await attacker.hset(`${base}meta`, { paused: 1, concurrency: 0, max: 0, duration: 1e12 });
    const ids = Array.from({ length: SCHEDULERS }, (_, at) => `${at}${large.slice(0, 512 * 1024)}`);
    await attacker.zadd(`${base}repeat`, ...ids.flatMap((id, at) => [at, id]));
    await attacker.zadd(`${base}marker`, 1e15, large);
    await attacker.set(`${base}stalled-check`, '1');
    const before = await sentOctets();
    await harness.start();
    await until('nothing is left', WITHIN_MS, async () => {
      const left = await attacker.hmget(`${base}meta`, 'paused', 'concurrency', 'max', 'duration');
      const members = (await attacker.zcard(`${base}repeat`)) + Number(await attacker.zscore(`${base}marker`, large));
      return (
        left.every((value) => value === null) && members === 0 && (await attacker.pttl(`${base}stalled-check`)) !== -1
      );
    });
    // The worker may have taken the marker first, once.
    expect((await sentOctets()) - before).toBeLessThan(2 * large.length);
  });
});
