import type { QueueStoreOptions } from './queue-connection.js';
import { PostgresBus } from './postgres-bus.js';
import { PubSub } from './pub-sub.js';
import { RedisBus } from './redis-bus.js';

/**
 * Over Redis if configured, else over PostgreSQL. An unavailable store does not stop the boot; the connection is
 * retried.
 */
export function openPubSub({ redisUrl, databaseUrl }: QueueStoreOptions, onError: (error: unknown) => void): PubSub {
  return new PubSub(
    (events) => (redisUrl === null ? new PostgresBus(databaseUrl, events) : new RedisBus(redisUrl, events)),
    onError,
  );
}
