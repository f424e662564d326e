import { randomBytes } from 'node:crypto';
import {
  JobNotifier,
  queueConnection,
  type QueueStoreOptions,
  queueWorkerOptions,
  receivesNotifications,
  migrateQueues,
  prepareQueues,
  type JobIds,
} from '@countersign/bus';
import { CONNECT_TIMEOUT_MS } from '@countersign/postgres';
import { Queue, Worker } from 'bullmq';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { type Line, lineTo } from '../support/line.js';
import { until } from '../support/until.js';

const PREFIX = '{countersign-test}';
/** A connection that was broken is in use again within this time after it was mended. */
const HEAL_MS = 10_000;

const redisUrl = inject('redisUrl');
const stores = [
  { store: 'PostgreSQL', skipped: false },
  { store: 'Redis', skipped: redisUrl === null },
];

describe.each(stores)('the job notifier on $store', ({ store, skipped }) => {
  describe.skipIf(skipped)('notifies', () => {
    let home: TestDatabase;
    let line: Line;
    let options: QueueStoreOptions;
    let name: string;
    let queue: Queue<JobIds>;
    let notifier: JobNotifier;
    let errors: unknown[];
    let received: string[];
    let jobs: number;
    let workers: Worker<JobIds>[];

    beforeAll(async () => {
      home = await freshDatabase();
      line = await lineTo(store === 'Redis' ? (redisUrl ?? '') : home.url);
      options =
        store === 'Redis' ? { redisUrl: line.url, databaseUrl: home.url } : { redisUrl: null, databaseUrl: line.url };
      await Promise.all([1, 2, 3].map(() => prepareQueues(options)));
    });
    afterAll(async () => {
      await line.close();
      await home.drop();
    });

    beforeEach(async () => {
      name = `queue-${randomBytes(6).toString('hex')}`;
      await migrateQueues({
        databaseUrl: home.ownerUrl,
        queues: [name],
        roles: [{ name: new URL(home.url).username, kind: 'daemon' }],
      });
      errors = [];
      received = [];
      jobs = 0;
      workers = [];
      queue = new Queue<JobIds>(name, { connection: queueConnection(options, 'producer'), prefix: PREFIX });
      queue.on('error', () => undefined);
      notifier = new JobNotifier(queue, (error) => errors.push(error));
    });
    afterEach(async () => {
      await notifier.close();
      await Promise.all(workers.map((worker) => worker.close(true)));
      await queue.close();
    });

    async function listen(work: (notify: JobIds) => Promise<void> = () => Promise.resolve()): Promise<void> {
      const worker = new Worker<JobIds>(
        name,
        async (job) => {
          jobs++;
          received.push(...job.data.ids);
          await work(job.data);
        },
        { ...queueWorkerOptions(options), prefix: PREFIX },
      );
      worker.on('error', () => undefined);
      workers.push(worker);
      await worker.waitUntilReady();
    }

    /** Notifies until the id is received: a notification that was lost is not repeated by itself. */
    const notifyUntilReceived = async (id: string): Promise<void> => {
      await until(`${id} is received`, HEAL_MS, () => {
        if (!received.includes(id)) notifier.notify([id]);
        return received.includes(id);
      });
    };

    const atOnce = (work: () => void): number => {
      const startMs = performance.now();
      work();
      return performance.now() - startMs;
    };

    it('a worker, which receives the ids', async () => {
      await listen();
      notifier.notify(['a', 'b']);
      await expect.poll(() => received).toEqual(['a', 'b']);
      expect(errors).toEqual([]);
    });

    it('a worker that starts later', async () => {
      notifier.notify(['early']);
      await expect.poll(() => queue.getWaitingCount()).toBe(1);
      await listen();
      await expect.poll(() => received).toEqual(['early']);
    });

    it('a worker that started while its connection was silent, once that is back', async () => {
      line.freeze();
      const listening = listen();
      // Longer than a connection may take: the first attempt has failed, and the process still turns.
      await new Promise((resolve) => setTimeout(resolve, CONNECT_TIMEOUT_MS + 500));
      line.thaw();
      await listening;
      await notifyUntilReceived('late');
    });

    it.runIf(store === 'PostgreSQL')('a worker whose first statement was cut off, later', async () => {
      const owner = new pg.Client({ connectionString: home.ownerUrl });
      await owner.connect();
      await owner.query('BEGIN');
      await owner.query('LOCK TABLE bullmq.migration IN ACCESS EXCLUSIVE MODE');
      const listening = listen();
      await until('the first statement waits', HEAL_MS, async () => {
        const { rowCount } = await owner.query(
          `SELECT FROM pg_locks WHERE NOT granted AND relation = 'bullmq.migration'::regclass`,
        );
        return rowCount !== 0;
      });
      await line.cut();
      await owner.query('ROLLBACK');
      await owner.end();
      await line.mend();
      await listening;
      await notifyUntilReceived('after the cut');
    });

    it('once for all ids of one moment', async () => {
      await listen();
      for (let n = 0; n < 200; n++) notifier.notify([`${n}`]);
      await expect.poll(() => received.length).toBe(200);
      expect(jobs).toBe(1);
    });

    it('in a few jobs of many ids, each of which is received once', async () => {
      await listen();
      for (let n = 0; n < 1_000; n++) {
        notifier.notify([`${n}`]);
        if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1_000);
      expect(new Set(received).size).toBe(1_000);
      expect(jobs).toBeLessThanOrEqual(101);
    });

    it('and leaves nothing behind but the last hundred failures', async () => {
      await listen((notify) =>
        notify.ids[0]?.startsWith('bad') === true ? Promise.reject(new Error('bad')) : Promise.resolve(),
      );
      for (let n = 0; n < 130; n++) {
        notifier.notify([n < 110 ? `bad-${n}` : `good-${n}`]);
        await expect.poll(() => received.length, { interval: 2 }).toBe(n + 1);
      }
      await expect
        .poll(() => queue.getJobCounts('waiting', 'active', 'completed', 'failed'))
        .toEqual({ waiting: 0, active: 0, completed: 0, failed: 100 });
    });

    it('without holding anybody up on a frozen line, and is received again when it thaws', async () => {
      await listen();
      await notifyUntilReceived('before');
      line.freeze();
      expect(atOnce(() => notifier.notify(['lost']))).toBeLessThan(1_000);
      await until('the loss is reported', 5_000, () => errors.length > 0);
      line.thaw();
      await notifyUntilReceived('after');
    });

    it('without throwing when the server is down, and is received again when it is up', async () => {
      await listen();
      await notifyUntilReceived('before');
      await line.cut();
      await until('a loss is reported', 5_000, () => {
        expect(atOnce(() => notifier.notify(['lost']))).toBeLessThan(1_000);
        return errors.length > 0;
      });
      await line.mend();
      await notifyUntilReceived('after');
    });

    it('no more after it was closed, and closing waits for no frozen line', async () => {
      await listen();
      await notifyUntilReceived('before');
      line.freeze();
      notifier.notify(['lost']);
      const startMs = performance.now();
      await notifier.close();
      expect(performance.now() - startMs).toBeLessThan(4_000);
      notifier.notify(['never']);
      line.thaw();
      await workers[0]?.close(true);
      await queue.close();
      expect(received).not.toContain('never');
    });

    it('while everything is being closed, and all of it ends', async () => {
      await listen();
      const ringing = setInterval(() => notifier.notify(['x']), 1);
      await until('it is received', HEAL_MS, () => received.length > 0);
      await workers[0]?.close();
      await notifier.close();
      await queue.close();
      clearInterval(ringing);
    });
  });
});

describe.skipIf(redisUrl === null)('a queue in Redis', () => {
  it('leaves no connection when it is closed while Redis does not answer', async () => {
    const line = await lineTo(redisUrl ?? '');
    const options = { redisUrl: line.url, databaseUrl: '' };
    await prepareQueues(options);
    const queue = new Queue('closed', { connection: queueConnection(options, 'producer'), prefix: PREFIX });
    queue.on('error', () => undefined);
    const client = await queue.backend.client;
    line.freeze();
    await expect(queue.close()).rejects.toThrow('timed out');
    await until('the connection has ended', HEAL_MS, () => client.status === 'end');
    await line.close();
  });
});

describe('a connection that shall carry notifications', () => {
  it('must hear notifications, as one through a transaction pooler does not', async () => {
    const [home, elsewhere] = await Promise.all([emptyDatabase(), emptyDatabase()]);
    expect(await receivesNotifications(home.url, home.url, 2_000)).toBe(true);
    expect(await receivesNotifications(home.url, elsewhere.url, 100)).toBe(false);
    await Promise.all([home.drop(), elsewhere.drop()]);
  });
});
