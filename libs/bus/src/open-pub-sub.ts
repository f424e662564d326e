import type { QueueStoreOptions } from './queue-connection.js';
import { PostgresBus } from './postgres-bus.js';
import { PubSub } from './pub-sub.js';
import { RedisBus } from './redis-bus.js';

/** Over Redis when there is one, else over PostgreSQL. A store that is away stops no boot; it is looked for until it is there. */
export function openPubSub({ redisUrl, databaseUrl }: QueueStoreOptions, onError: (error: unknown) => void): PubSub {
  return new PubSub(
    (events) => (redisUrl === null ? new PostgresBus(databaseUrl, events) : new RedisBus(redisUrl, events)),
    onError,
  );
}
