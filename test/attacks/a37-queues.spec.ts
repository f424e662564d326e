import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

// An attacker who had a gateway's access to the queues leaves job schedulers in them.

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
    const lines = harness.log.slice(before).filter((line) => line.includes('a job scheduler was removed'));
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
