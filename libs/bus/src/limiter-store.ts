import { CONNECT_TIMEOUT_MS, connectionSettings } from '@countersign/postgres';
import { Redis } from 'ioredis';
import pg from 'pg';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import { type QueueStoreOptions, redisAddress, retryDelayMs } from './queue-connection.js';
import { type Count, Limiter, type LimiterStore } from './limiter.js';

/** What is asked and not answered is given up by then, so that nothing piles up behind a store that is frozen. */
const COMMAND_TIMEOUT_MS = 500;
const KEEP_ALIVE_MS = 10_000;
const KEY_PREFIX = 'countersign:limit';
const TABLE = 'rate_limits';
/** Calls of one turn run beside each other; a key is one row, which takes them one by one anyway. */
const POSTGRES_CONNECTIONS = 4;

/** The library refuses by itself at `points`; here it only counts, since one key may be asked about with several limits. */
const COUNTING = { keyPrefix: KEY_PREFIX, points: Number.MAX_SAFE_INTEGER, duration: 60 };

async function add(limiter: RateLimiterAbstract, key: string, points: number, windowSeconds: number): Promise<Count> {
  const { consumedPoints, msBeforeNext } = await limiter.penalty(key, points, { customDuration: windowSeconds });
  return { consumed: consumedPoints, resetMs: msBeforeNext };
}

/** Counters of this process alone. */
export function memoryLimiterStore(): LimiterStore {
  const limiter = new RateLimiterMemory(COUNTING);
  return {
    add: (key, points, windowSeconds) => add(limiter, key, points, windowSeconds),
    close: () => Promise.resolve(),
  };
}

/** Counters in Redis, over a connection of their own. Resolves when it is there, or was found not to be. */
async function redisLimiterStore(redisUrl: string): Promise<LimiterStore> {
  const redis = new Redis({
    ...redisAddress(redisUrl),
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times) => retryDelayMs(times, Math.random()),
  });
  // Who counts hears of it by the call that fails.
  redis.on('error', () => undefined);
  await redis.connect().catch(() => undefined);
  const limiter = new RateLimiterRedis({ ...COUNTING, storeClient: redis });
  return {
    add: (key, points, windowSeconds) => add(limiter, key, points, windowSeconds),
    close: () => {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

/** Counters in an unlogged table, over a small pool of their own: a busy pool of requests must not hold them up. */
function postgresLimiterStore(databaseUrl: string): LimiterStore {
  const pool = new pg.Pool({
    ...connectionSettings(databaseUrl),
    max: POSTGRES_CONNECTIONS,
    application_name: 'countersign-limiter',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: COMMAND_TIMEOUT_MS,
    statement_timeout: COMMAND_TIMEOUT_MS,
    keepAlive: true,
  });
  pool.on('error', () => undefined);
  const limiter = new RateLimiterPostgres({
    ...COUNTING,
    storeClient: pool,
    storeType: 'pool',
    tableName: TABLE,
    tableCreated: true,
    clearExpiredByTimeout: true,
  });
  return {
    add: (key, points, windowSeconds) => add(limiter, key, points, windowSeconds),
    close: () => pool.end(),
  };
}

/** The store that all processes share: Redis when there is one, else PostgreSQL, whose table the migrations make. */
export async function openLimiterStore({ redisUrl, databaseUrl }: QueueStoreOptions): Promise<LimiterStore> {
  return redisUrl === null ? postgresLimiterStore(databaseUrl) : redisLimiterStore(redisUrl);
}

/** A limiter over the shared store. A store that is away stops no boot: the limiter begins on its own then. */
export async function openLimiter(options: QueueStoreOptions, onError: (error: unknown) => void): Promise<Limiter> {
  const limiter = new Limiter({ store: await openLimiterStore(options), fallback: memoryLimiterStore(), onError });
  await limiter.open();
  return limiter;
}
