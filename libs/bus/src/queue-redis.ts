import {
  createIORedisClient,
  type IQueueBackend,
  type IRedisClient,
  PostgresQueueBackend,
  type RedisOptions,
  RedisQueueBackend,
} from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { JOB_FIELDS } from './job-notifier.js';
import { clientOf, type RedisAddress } from './redis-client.js';
import { addedJobs, boundedJobs, QUEUE_KEY_TYPES, REMOVE_FOREIGN_VALUES } from './queue-redis.lua.js';

/** BullMQ's scripts that hand jobs, or ids of jobs, to a worker; their names end with its version. */
const HANDS_OUT_JOBS = /^move(?:ToActive|ToFinished|StalledJobsToWait):/;
/** Its scripts that add jobs as JobNotifier does. */
const ADDS_JOBS = /^addStandardJob:/;
const KEY_NAMES = Object.keys(QUEUE_KEY_TYPES);
const KEY_TYPES = Object.values(QUEUE_KEY_TYPES);
const REMOVE = 'removeForeignValues';
/** Fields of a queue's `meta` that stop or slow its workers; no process of this product sets one. */
const BRAKES = ['paused', 'concurrency', 'max', 'duration'];
/** Attempts, stalls and children of a job: more than a worker counts. */
const MOST_COUNTED = 1_000;
const BOUNDED_JOBS = boundedJobs(JOB_FIELDS);

type Command = Parameters<Redis['defineCommand']>[1];

/** A script of BullMQ that reads a bounded part of stored jobs. */
function boundedCommand(name: string, definition: Command): Command {
  const before = HANDS_OUT_JOBS.test(name) ? BOUNDED_JOBS : ADDS_JOBS.test(name) ? addedJobs : '';
  return { ...definition, lua: before + definition.lua };
}

/** A connection of BullMQ that reads a bounded part of stored jobs, and that ends when it is closed without an answer. */
class QueueRedis extends Redis {
  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    super.defineCommand(name, boundedCommand(name, definition));
  }

  /** BullMQ removes its listeners also when QUIT fails: the connection would reconnect without end, its errors unhandled. */
  override async quit(): Promise<'OK'> {
    try {
      return await super.quit();
    } catch (error) {
      this.disconnect();
      throw error;
    }
  }
}

/** The same of a Redis Cluster: BullMQ's keys are in one slot, that of the tag in the queues' prefix. */
class QueueCluster extends Cluster {
  override defineCommand(name: string, definition: Parameters<Cluster['defineCommand']>[1]): void {
    super.defineCommand(name, boundedCommand(name, definition));
  }

  override async quit(): Promise<'OK'> {
    try {
      return await super.quit();
    } catch (error) {
      this.disconnect();
      throw error;
    }
  }
}

/** BullMQ's `RedisConnection.clientFactory`. */
export function createQueueRedis(options: RedisOptions & RedisAddress): IRedisClient {
  const redis = clientOf({ Server: QueueRedis, Nodes: QueueCluster }, options);
  redis.defineCommand(REMOVE, { numberOfKeys: KEY_NAMES.length, lua: REMOVE_FOREIGN_VALUES });
  return createIORedisClient(redis);
}

/** Resolves when the store of a queue answers, whatever it holds. */
export async function pingQueue(backend: IQueueBackend): Promise<void> {
  if (backend instanceof RedisQueueBackend) {
    const client: object = await backend.client;
    await (client as Pick<Redis, 'ping'>).ping();
  } else {
    await backend.hasQueueMetaField('paused');
  }
}

/** A queue of BullMQ. */
interface QueueStore {
  readonly name: string;
  readonly backend: IQueueBackend;
}

/** Jobs with counts that no worker writes, to which none can be added. $1 queue. */
const REMOVE_COUNTED = `
  DELETE FROM job WHERE queue = $1 AND NOT (attempts_started BETWEEN 0 AND ${MOST_COUNTED}
    AND attempts_made BETWEEN 0 AND ${MOST_COUNTED} AND stalled_count BETWEEN 0 AND ${MOST_COUNTED}
    AND pending_deps BETWEEN 0 AND ${MOST_COUNTED})`;

/** A limit of stored events that is none. $1 queue. */
const REMOVE_LIMIT = `
  DELETE FROM meta WHERE queue = $1 AND field = 'opts.maxLenEvents' AND value !~ '^[0-9]{1,6}$'`;

async function removeForeignRows(backend: PostgresQueueBackend, queue: string): Promise<string[]> {
  const { pool } = backend.connection;
  const { rowCount: jobs } = await pool.query(REMOVE_COUNTED, [queue]);
  const { rowCount: limits } = await pool.query(REMOVE_LIMIT, [queue]);
  return [...((jobs ?? 0) > 0 ? ['job'] : []), ...((limits ?? 0) > 0 ? ['meta'] : [])];
}

/**
 * Removes what neither BullMQ nor this product writes to the keys of a queue, and what stops its workers. Resolves with the
 * names of the keys or fields that it changed (`wait`). A poll finds the rows of any job that is lost.
 */
export async function removeForeignValues({ name: queue, backend }: QueueStore): Promise<readonly string[]> {
  const changed: string[] = [];
  if (backend instanceof RedisQueueBackend) {
    const keys = KEY_NAMES.map((name) => backend.toKey(name));
    const client = await backend.client;
    changed.push(...((await client.runCommand(REMOVE, [...keys, ...KEY_NAMES, ...KEY_TYPES])) as string[]));
  }
  if ((await backend.removeQueueMetaFields(BRAKES)) > 0) changed.push('paused');
  // After the former, the connection is ready.
  if (backend instanceof PostgresQueueBackend) changed.push(...(await removeForeignRows(backend, queue)));
  return [...new Set(changed)];
}
