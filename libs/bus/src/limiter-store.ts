import { CONNECT_TIMEOUT_MS, connectionSettings } from '@countersign/postgres';
import pg from 'pg';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import { type QueueStoreOptions, retryDelayMs } from './queue-connection.js';
import { openRedis, SILENT_SOCKET_MS } from './redis-client.js';
import { type Count, Limiter, type LimiterStore } from './limiter.js';

/** Timeout of a command, so that commands do not accumulate behind a store that hangs. */
const COMMAND_TIMEOUT_MS = 500;
const KEEP_ALIVE_MS = 10_000;
const KEY_PREFIX = 'countersign:limit';
const TABLE = 'rate_limits';
/** Calls of one turn run in parallel; calls for one key serialize on its row anyway. */
const POSTGRES_CONNECTIONS = 4;

/**
 * The library limits to `points` itself; here it only counts, since one key may be checked against several limits.
 */
const COUNTING = { keyPrefix: KEY_PREFIX, points: Number.MAX_SAFE_INTEGER, duration: 60 };

/**
 * KEYS[1] counter; ARGV[1] points to add, ARGV[2] its window in seconds. Returns its points and the rest of its window in ms.
 * Another client of Redis may have stored any value under the key. A value that is not a number, is negative or ends later than
 * its window is replaced by a new count, so it affects the limit for one window at most.
 */
const COUNT = `
local key, points, windowSeconds = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('SET', key, 0, 'EX', windowSeconds, 'NX')
local count = redis.pcall('INCRBY', key, points)
local endsMs = redis.call('PTTL', key)
local isCount = type(count) == 'number' and count >= points and count <= ${Number.MAX_SAFE_INTEGER}
if isCount and endsMs >= 0 and endsMs <= 1000 * windowSeconds then return { count, endsMs } end
redis.call('UNLINK', key)
redis.call('SET', key, points, 'EX', windowSeconds)
return { points, 1000 * windowSeconds }
`;

async function add(limiter: RateLimiterAbstract, key: string, points: number, windowSeconds: number): Promise<Count> {
  const { consumedPoints, msBeforeNext } = await limiter.penalty(key, points, { customDuration: windowSeconds });
  return { consumed: consumedPoints, resetMs: msBeforeNext };
}

/** Counters of this process only. */
export function memoryLimiterStore(): LimiterStore {
  const limiter = new RateLimiterMemory(COUNTING);
  return {
    add: (key, points, windowSeconds) => add(limiter, key, points, windowSeconds),
    close: () => Promise.resolve(),
  };
}

/** Counters in Redis, over a separate connection. Resolves when it is connected or unavailable. */
async function redisLimiterStore(redisUrl: string): Promise<LimiterStore> {
  const redis = openRedis(redisUrl, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENT_SOCKET_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times) => retryDelayMs(times, Math.random()),
  });
  // The failing call reports the error.
  redis.on('error', () => undefined);
  await redis.connect().catch(() => undefined);
  const limiter = new RateLimiterRedis({ ...COUNTING, storeClient: redis, customIncrTtlLuaScript: COUNT });
  return {
    add: (key, points, windowSeconds) => add(limiter, key, points, windowSeconds),
    close: () => {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

/** Counters in an unlogged table, over a small separate pool: a busy request pool must not delay them. */
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

/** The store shared by all processes: Redis if configured, else PostgreSQL, whose table the migrations create. */
export async function openLimiterStore({ redisUrl, databaseUrl }: QueueStoreOptions): Promise<LimiterStore> {
  return redisUrl === null ? postgresLimiterStore(databaseUrl) : redisLimiterStore(redisUrl);
}

/** A limiter over the shared store. An unavailable store does not stop the boot: the limiter then counts locally. */
export async function openLimiter(options: QueueStoreOptions, onError: (error: unknown) => void): Promise<Limiter> {
  const limiter = new Limiter({ store: await openLimiterStore(options), fallback: memoryLimiterStore(), onError });
  await limiter.probeOnce();
  return limiter;
}
