import type { BellOptions } from './bell-connection.js';
import { PostgresLine } from './postgres-line.js';
import { PubSub } from './pub-sub.js';
import { RedisLine } from './redis-line.js';

/** Over Redis when there is one, else over PostgreSQL. A store that is away stops no boot; it is looked for until it is there. */
export function openPubSub({ redisUrl, databaseUrl }: BellOptions, onError: (error: unknown) => void): PubSub {
  return new PubSub(
    (events) => (redisUrl === null ? new PostgresLine(databaseUrl, events) : new RedisLine(redisUrl, events)),
    onError,
  );
}
