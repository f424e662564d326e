import { randomBytes } from 'node:crypto';
import {
  JobNotifier,
  openLimiterStore,
  openPubSub,
  prepareQueues,
  queueConnection,
  queueWorkerOptions,
  type JobIds,
  type LimiterStore,
  type PubSub,
  type QueueStoreOptions,
} from '@countersign/bus';
import { QUEUE_PREFIX } from '@countersign/events';
import { Queue, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { RedisServers } from '../support/redis-servers.js';
import { until } from '../support/until.js';

/** A failover takes the second after which a Sentinel considers the master down, and its votes. */
const FAILOVER_MS = 30_000;
const SOON_MS = 10_000;

describe.skipIf(inject('redisUrl') === null).each(['redis+sentinel', 'redis+cluster'] as const)('%s', (form) => {
  const servers = new RedisServers();
  let masterPort: number;
  let options: QueueStoreOptions;
  let bus: PubSub;
  let limiter: LimiterStore;
  let queue: Queue<JobIds>;
  let worker: Worker<JobIds>;
  let notifier: JobNotifier;
  const received: string[] = [];
  const messages: unknown[] = [];
  const topic = `test:${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    if (form === 'redis+sentinel') {
      const { sentinelPort, masterPort: port } = await servers.startSentinel();
      masterPort = port;
      options = { redisUrl: `redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinelPort}/mymaster`, databaseUrl: '' };
    } else {
      const hosts = (await servers.startCluster()).map((port) => `127.0.0.1:${port}`);
      options = { redisUrl: `redis+cluster://${hosts.join(',')}`, databaseUrl: '' };
    }
    await prepareQueues(options);
    bus = openPubSub(options, () => undefined);
    limiter = await openLimiterStore(options);
    const name = `test-${randomBytes(6).toString('hex')}`;
    queue = new Queue<JobIds>(name, { connection: queueConnection(options, 'producer'), prefix: QUEUE_PREFIX });
    worker = new Worker<JobIds>(name, ({ data }) => Promise.resolve(void received.push(...data.ids)), {
      ...queueWorkerOptions(options),
      prefix: QUEUE_PREFIX,
    });
    queue.on('error', () => undefined);
    worker.on('error', () => undefined);
    notifier = new JobNotifier(queue, () => undefined);
    await bus.subscribe(topic, (message) => messages.push(message.json())).ready;
  }, 60_000);
  afterAll(async () => {
    await notifier.close();
    await worker.close(true);
    await queue.close().catch(() => undefined);
    await Promise.all([bus.close(), limiter.close()]);
    await servers.stop();
  });
  beforeEach(() => {
    received.length = 0;
    messages.length = 0;
  });
  afterEach(() => {
    received.length = 0;
  });

  /** Notifications and messages may be lost while connections are replaced: both are repeated. */
  async function worksWithin(deadlineMs: number, id: string): Promise<void> {
    await until('a worker has the notification', deadlineMs, () => {
      notifier.notify([id]);
      return received.includes(id);
    });
    await until('a subscriber has the message', deadlineMs, () => {
      bus.publish(topic, { id });
      return messages.some((message) => (message as { id: string }).id === id);
    });
    const key = `test:${randomBytes(6).toString('hex')}`;
    await until('the limiter counts', deadlineMs, async () => {
      const count = await limiter.add(key, 1, 60).catch(() => null);
      return count !== null && count.consumed > 0;
    });
    const { consumed } = await limiter.add(key, 2, 60);
    expect(consumed).toBeGreaterThanOrEqual(3);
  }

  it('serves notifications, messages and limits', async () => {
    await worksWithin(SOON_MS, 'first');
  });

  it.skipIf(form !== 'redis+sentinel')(
    'serves them again after the master has died',
    async () => {
      await servers.kill(masterPort);
      await worksWithin(FAILOVER_MS, 'after');
    },
    2 * FAILOVER_MS,
  );
});
