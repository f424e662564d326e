import {
  createIORedisClient,
  type IQueueBackend,
  type IRedisClient,
  type RedisOptions,
  RedisQueueBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import { JOB_FIELDS } from './job-notifier.js';
import { boundedJobs, QUEUE_KEY_TYPES, REMOVE_FOREIGN_VALUES } from './queue-redis.lua.js';

/** BullMQ's scripts that hand jobs, or ids of jobs, to a worker; their names end with its version. */
const HANDS_OUT_JOBS = /^move(?:ToActive|ToFinished|StalledJobsToWait):/;
const KEY_NAMES = Object.keys(QUEUE_KEY_TYPES);
const KEY_TYPES = Object.values(QUEUE_KEY_TYPES);
const REMOVE = 'removeForeignValues';
/** Fields of a queue's `meta` that stop or slow its workers; no process of this product sets one. */
const BRAKES = ['paused', 'concurrency', 'max', 'duration'];
const BOUNDED_JOBS = boundedJobs(JOB_FIELDS);

/** A connection of BullMQ that reads a bounded part of stored jobs. */
class QueueRedis extends Redis {
  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    const lua = HANDS_OUT_JOBS.test(name) ? BOUNDED_JOBS + definition.lua : definition.lua;
    super.defineCommand(name, { ...definition, lua });
  }
}

/** BullMQ's `RedisConnection.clientFactory`. */
export function createQueueRedis(options: RedisOptions): IRedisClient {
  const redis = new QueueRedis(options);
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

/**
 * Removes what neither BullMQ nor this product writes to the keys of a queue, and what stops its workers. Resolves with the
 * names of the keys or fields that it changed (`wait`). No job is lost that a poll does not make good.
 */
export async function removeForeignValues(backend: IQueueBackend): Promise<readonly string[]> {
  const changed: string[] = [];
  if (backend instanceof RedisQueueBackend) {
    const keys = KEY_NAMES.map((name) => backend.toKey(name));
    const client = await backend.client;
    changed.push(...((await client.runCommand(REMOVE, [...keys, ...KEY_NAMES, ...KEY_TYPES])) as string[]));
  }
  if ((await backend.removeQueueMetaFields(BRAKES)) > 0) changed.push('paused');
  return [...new Set(changed)];
}
