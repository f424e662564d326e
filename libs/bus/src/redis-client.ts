import { readRedisUrl } from '@countersign/store-urls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** A connection to a server, or to all nodes of a Redis Cluster. */
export type AnyRedis = Redis | Cluster;

/** Where a Redis URL leads, as options of ioredis. */
export interface RedisAddress extends Pick<
  RedisOptions,
  | 'host'
  | 'port'
  | 'username'
  | 'password'
  | 'db'
  | 'tls'
  | 'sentinels'
  | 'name'
  | 'enableTLSForSentinelMode'
  | 'sentinelTLS'
> {
  /** Of a Redis Cluster: not an option of ioredis, see `clientOf`. */
  readonly clusterNodes?: { readonly host: string; readonly port: number }[];
}

/**
 * Where a Redis URL leads. With Sentinels each connection asks them for the master, and is replaced when the server that it leads to
 * has become a replica.
 */
export function redisOptions(redisUrl: string): RedisAddress & Pick<RedisOptions, 'reconnectOnError'> {
  const target = readRedisUrl(redisUrl);
  if (target === null) throw new Error('the Redis URL has another form');
  const { tls, username, password, database } = target;
  return {
    ...placeOf(target),
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(database === null ? {} : { db: database }),
    ...(tls ? { tls: {} } : {}),
  };
}

function placeOf({ kind, nodes, masterName, tls }: NonNullable<ReturnType<typeof readRedisUrl>>) {
  if (kind === 'server') return { ...nodes[0] };
  if (kind === 'cluster') return { clusterNodes: [...nodes] };
  const ofTls = tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {};
  return { sentinels: [...nodes], name: masterName ?? '', ...ofTls, reconnectOnError: isOfReplica };
}

/** A former master refuses writes. */
const isOfReplica = (error: Error): boolean => error.message.startsWith('READONLY');

/** Classes of one kind of client. */
interface ClientClasses<Server extends Redis, Nodes extends Cluster> {
  readonly Server: new (options: RedisOptions) => Server;
  readonly Nodes: new (...args: ConstructorParameters<typeof Cluster>) => Nodes;
}

/** The client for an address: options of the connection to a server become those of each connection to a node. */
export function clientOf<Server extends Redis, Nodes extends Cluster>(
  { Server, Nodes }: ClientClasses<Server, Nodes>,
  { clusterNodes, ...options }: RedisOptions & RedisAddress,
): Server | Nodes {
  if (clusterNodes === undefined) return new Server(options);
  const { enableOfflineQueue = true, lazyConnect = false, retryStrategy } = options;
  return new Nodes(clusterNodes, {
    redisOptions: options,
    enableOfflineQueue,
    lazyConnect,
    ...(retryStrategy === undefined ? {} : { clusterRetryStrategy: retryStrategy }),
    slotsRefreshTimeout: SLOTS_REFRESH_MS,
  });
}

/** Timeout of a node's answer to which slots it has; the next node is then asked. */
const SLOTS_REFRESH_MS = 2_000;

/**
 * `socketTimeout` of connections whose commands are answered at once. A connection without an answer for so long is dead, as after a
 * failover or a lost route, and is replaced; TCP would close it after some 15 minutes.
 */
export const SILENT_SOCKET_MS = 2_000;

export const openRedis = (redisUrl: string, options: RedisOptions): AnyRedis =>
  clientOf({ Server: Redis, Nodes: Cluster }, { ...redisOptions(redisUrl), ...options });
