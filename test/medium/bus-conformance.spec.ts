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
/** A line that was broken is in use again within this time after it was mended. */
const HEAL_MS = 10_000;

const redisUrl = inject('redisUrl');
const stores = [
  { store: 'PostgreSQL', skipped: false },
  { store: 'Redis', skipped: redisUrl === null },
];

describe.each(stores)('the job notifier on $store', ({ store, skipped }) => {
  describe.skipIf(skipped)('rings', () => {
    let home: TestDatabase;
    let line: Line;
    let options: QueueStoreOptions;
    let name: string;
    let queue: Queue<JobIds>;
    let notifier: JobNotifier;
    let errors: unknown[];
    let heard: string[];
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
      name = `bell-${randomBytes(6).toString('hex')}`;
      await migrateQueues({
        databaseUrl: home.ownerUrl,
        queues: [name],
        roles: [{ name: new URL(home.url).username, kind: 'daemon' }],
      });
      errors = [];
      heard = [];
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
          heard.push(...job.data.ids);
          await work(job.data);
        },
        { ...queueWorkerOptions(options), prefix: PREFIX },
      );
      worker.on('error', () => undefined);
      workers.push(worker);
      await worker.waitUntilReady();
    }

    /** Rings until it is heard: one that was lost is not repeated by itself. */
    const ringsAgain = async (id: string): Promise<void> => {
      await until(`${id} is heard`, HEAL_MS, () => {
        if (!heard.includes(id)) notifier.notify([id]);
        return heard.includes(id);
      });
    };

    const atOnce = (work: () => void): number => {
      const startMs = performance.now();
      work();
      return performance.now() - startMs;
    };

    it('and a worker hears the ids', async () => {
      await listen();
      notifier.notify(['a', 'b']);
      await expect.poll(() => heard).toEqual(['a', 'b']);
      expect(errors).toEqual([]);
    });

    it('and a worker that was not there yet hears it later', async () => {
      notifier.notify(['early']);
      await expect.poll(() => queue.getWaitingCount()).toBe(1);
      await listen();
      await expect.poll(() => heard).toEqual(['early']);
    });

    it('and a worker that began while the line was dead hears it once the line is back', async () => {
      line.freeze();
      const listening = listen();
      // Longer than a connection may take: the first attempt has failed, and the process still turns.
      await new Promise((resolve) => setTimeout(resolve, CONNECT_TIMEOUT_MS + 500));
      line.thaw();
      await listening;
      await ringsAgain('late');
    });

    it.runIf(store === 'PostgreSQL')('and a worker whose first statement was cut off listens later', async () => {
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
      await ringsAgain('after the cut');
    });

    it('once for all rings of one moment', async () => {
      await listen();
      for (let n = 0; n < 200; n++) notifier.notify([`${n}`]);
      await expect.poll(() => heard.length).toBe(200);
      expect(jobs).toBe(1);
    });

    it('in a few jobs for many rings, and every one is heard once', async () => {
      await listen();
      for (let n = 0; n < 1_000; n++) {
        notifier.notify([`${n}`]);
        if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(1_000);
      expect(new Set(heard).size).toBe(1_000);
      expect(jobs).toBeLessThanOrEqual(101);
    });

    it('and leaves nothing behind but the last hundred failures', async () => {
      await listen((notify) =>
        notify.ids[0]?.startsWith('bad') === true ? Promise.reject(new Error('bad')) : Promise.resolve(),
      );
      for (let n = 0; n < 130; n++) {
        notifier.notify([n < 110 ? `bad-${n}` : `good-${n}`]);
        await expect.poll(() => heard.length, { interval: 2 }).toBe(n + 1);
      }
      await expect
        .poll(() => queue.getJobCounts('waiting', 'active', 'completed', 'failed'))
        .toEqual({ waiting: 0, active: 0, completed: 0, failed: 100 });
    });

    it('without holding anybody up on a frozen line, and is heard again when it thaws', async () => {
      await listen();
      await ringsAgain('before');
      line.freeze();
      expect(atOnce(() => notifier.notify(['lost']))).toBeLessThan(1_000);
      await until('the loss is reported', 5_000, () => errors.length > 0);
      line.thaw();
      await ringsAgain('after');
    });

    it('without throwing when the server is down, and is heard again when it is up', async () => {
      await listen();
      await ringsAgain('before');
      await line.cut();
      await until('a loss is reported', 5_000, () => {
        expect(atOnce(() => notifier.notify(['lost']))).toBeLessThan(1_000);
        return errors.length > 0;
      });
      await line.mend();
      await ringsAgain('after');
    });

    it('no more after it was closed, and closing waits for no frozen line', async () => {
      await listen();
      await ringsAgain('before');
      line.freeze();
      notifier.notify(['lost']);
      const startMs = performance.now();
      await notifier.close();
      expect(performance.now() - startMs).toBeLessThan(4_000);
      notifier.notify(['never']);
      line.thaw();
      await workers[0]?.close(true);
      await queue.close();
      expect(heard).not.toContain('never');
    });

    it('while everything is being closed, and all of it ends', async () => {
      await listen();
      const ringing = setInterval(() => notifier.notify(['x']), 1);
      await until('it is heard', HEAL_MS, () => heard.length > 0);
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
