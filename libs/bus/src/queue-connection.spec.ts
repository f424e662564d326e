import { describe, expect, it } from 'vitest';
import { queueConnection, retryDelayMs } from './queue-connection.js';

const databaseUrl = 'postgres://me:secret@127.0.0.1:5432/countersign';

describe('the delay before a reconnect', () => {
  it('increases up to a second plus jitter', () => {
    expect([1, 2, 5, 6, 1_000].map((times) => retryDelayMs(times, 0))).toEqual([200, 400, 1_000, 1_000, 1_000]);
    expect(retryDelayMs(1_000, 0.999)).toBeLessThanOrEqual(1_200);
  });
});

describe('a connection to Redis', () => {
  const redis = { redisUrl: 'rediss://us%40er:p%3Ass@[::1]:6380/3', databaseUrl };

  it('has the parts of its URL', () => {
    expect(queueConnection(redis, 'producer')).toMatchObject({
      host: '::1',
      port: 6380,
      username: 'us@er',
      password: 'p:ss',
      db: 3,
      tls: {},
    });
    expect(queueConnection({ redisUrl: 'redis://localhost', databaseUrl }, 'worker')).toMatchObject({
      host: 'localhost',
      port: 6379,
    });
  });

  it('times out commands of a producer after half a second and queues none', () => {
    expect(queueConnection(redis, 'producer')).toMatchObject({
      ...{ commandTimeout: 500, socketTimeout: 2_000, enableOfflineQueue: false },
    });
  });

  it('lets a worker block, and detects a dead connection', () => {
    const worker = queueConnection(redis, 'worker');
    expect(worker).toMatchObject({ maxRetriesPerRequest: null, socketTimeout: 30_000 });
    expect(worker).not.toHaveProperty('commandTimeout');
    expect(worker).not.toHaveProperty('enableOfflineQueue');
  });
});

describe('a connection to PostgreSQL', () => {
  it('has timeouts', () => {
    expect(queueConnection({ redisUrl: null, databaseUrl }, 'worker')).toMatchObject({
      connectionString: databaseUrl,
      connectionTimeoutMillis: 2_000,
      query_timeout: 3_000,
      application_name: 'countersign-queue-worker',
    });
  });

  it("keeps the operator's options out of the URL, where they would override BullMQ's search path", () => {
    const url = `${databaseUrl}?options=-c%20work_mem%3D9MB`;
    expect(queueConnection({ redisUrl: null, databaseUrl: url }, 'producer')).toMatchObject({
      connectionString: databaseUrl,
      options: expect.stringContaining('work_mem=9MB') as string,
    });
  });
});
