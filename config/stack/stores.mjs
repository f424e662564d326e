// The stores of a run: servers named by the user, or private ones in the data directory.
import net from 'node:net';
import path from 'node:path';
import { startPostgres } from './postgres.mjs';
import { StartError } from './progress.mjs';
import { findRedis, startRedis, whyNoRedis } from './redis.mjs';

const CONNECT_TIMEOUT_MS = 3000;

/**
 * @returns {Promise<{ databaseUrl: string, migrationUrl: string | undefined, gatewayUrl: string | undefined, superuserUrl: string | undefined,
 *   redisUrl: string | undefined, queues: string, postgresPid: number | undefined, redisPid: number | undefined }>}
 *   migrationUrl: of the role that owns the tables, where it is another one; gatewayUrl: the same
 *   for gateways; queues: what they run on, in words; superuser
 *   and process ids: of private servers only
 */
export async function startStores(run) {
  const [postgres, redis] = await Promise.all([database(run), redisOrNot(run)]);
  return {
    databaseUrl: postgres.url,
    migrationUrl: postgres.migrationUrl,
    gatewayUrl: postgres.gatewayUrl,
    superuserUrl: postgres.superuserUrl,
    redisUrl: redis.url,
    queues: redis.words,
    postgresPid: postgres.pid,
    redisPid: redis.pid,
  };
}

async function database({ env, dataDir, lifecycle, log }) {
  if (env.DATABASE_URL) {
    await checkReachable('DATABASE_URL', env.DATABASE_URL, 5432);
    return { url: env.DATABASE_URL, migrationUrl: env.DATABASE_MIGRATION_URL || undefined };
  }
  const postgres = await lifecycle.starting('stores', () => startPostgres({ dataDir, log }));
  const logFile = path.join(dataDir, 'postgres.log');
  lifecycle.dependOn('PostgreSQL', postgres.child, () => `\nits log: ${logFile}`);
  const { url, gatewayUrl, ownerUrl: migrationUrl, superuserUrl, child } = postgres;
  return { url, gatewayUrl, migrationUrl, superuserUrl, pid: child.pid };
}

/** `REDIS_URL=` (set, but to nothing) asks for queues on PostgreSQL, whatever is on PATH. */
async function redisOrNot({ env, dataDir, lifecycle, log }) {
  if (env.REDIS_URL) {
    await checkReachable('REDIS_URL', env.REDIS_URL, 6379);
    return { url: env.REDIS_URL, words: 'Redis (REDIS_URL)' };
  }
  if (env.REDIS_URL === '') return { words: 'PostgreSQL (REDIS_URL is empty)' };
  if (findRedis() === undefined) return { words: `PostgreSQL (${whyNoRedis()})` };
  const redis = await lifecycle.starting('stores', () => startRedis({ dataDir, log }));
  lifecycle.dependOn('Redis', redis.child, () => `\nits log: ${path.join(dataDir, 'redis/redis.log')}`);
  return { url: redis.url, words: 'Redis (private)', pid: redis.child.pid };
}

/** Of which the apps use the ones that they can reach. */
const HAS_SEVERAL_HOSTS = /^[a-z]+:\/\/[^/?#]*,|^rediss?\+/i;

/** Fails early with one sentence instead of a later time-out of two apps. The URL holds a password and is not shown. */
async function checkReachable(variable, text, usualPort) {
  if (HAS_SEVERAL_HOSTS.test(text)) return;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new StartError(`${variable} is not a URL`);
  if (url.hostname === '') return; // a socket folder: checked by the driver
  const port = Number(url.port || usualPort);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const fault = await connectFault(host, port);
  if (fault === undefined) return;
  throw new StartError(
    `${variable}: nothing answers at ${host} port ${port} (${fault}); start it there, or unset ${variable} to let npm start bring its own`,
  );
}

const connectFault = (host, port) =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (fault) => {
      socket.destroy();
      resolve(fault);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end('timed out'));
    socket.once('error', (error) => end(error.code ?? error.message));
  });
