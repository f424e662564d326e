import { readHostList, urlsOf } from './host-list.js';

export const REDIS_URL_FORM =
  'a URL that begins with redis:// or rediss://, or redis+sentinel://h1:26379,h2:26379/mymaster, or ' +
  'redis+cluster://h1:6379,h2:6379 (rediss+… with TLS)';

/** One Redis server, the Sentinels that know the current master of a name, or nodes of a Redis Cluster. */
export interface RedisTarget {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly nodes: readonly RedisNode[];
  readonly username: string | null;
  readonly password: string | null;
  /** Name of the master that Sentinels know it by; null unless `kind` is `sentinel`. */
  readonly masterName: string | null;
  /** Number of the database; null for the default, and of a cluster, which has one. */
  readonly database: number | null;
}

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

const KINDS = { redis: 'server', 'redis+sentinel': 'sentinel', 'redis+cluster': 'cluster' } as const;
const DEFAULT_PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 } as const;
const isScheme = (text: string): text is keyof typeof KINDS => Object.hasOwn(KINDS, text);

/** A Redis URL; null unless it is one of `REDIS_URL_FORM`. Names and passwords may be percent-encoded. */
export function readRedisUrl(text: string): RedisTarget | null {
  const list = readHostList(text);
  const scheme = list?.scheme.replace(/^rediss/, 'redis') ?? '';
  if (list === null || !isScheme(scheme)) return null;
  const kind = KINDS[scheme];
  // The URL parser of browsers does not take apart the hosts of schemes with a plus sign.
  const urls = urlsOf({ ...list, scheme: 'redis' });
  if (!urls.every((url) => URL.canParse(url)) || (kind === 'server' && urls.length > 1)) return null;
  const parsed = urls.map((url) => new URL(url));
  const [first] = parsed;
  const path = first === undefined ? null : readPath(kind, first.pathname);
  if (first === undefined || path === null || (kind !== 'server' && parsed.some(({ hostname }) => hostname === '')))
    return null;
  return {
    kind,
    tls: list.scheme.startsWith('rediss'),
    nodes: parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || DEFAULT_PORTS[kind]),
    })),
    username: decoded(first.username),
    password: decoded(first.password),
    ...path,
  };
}

const decoded = (text: string): string | null => (text === '' ? null : decodeURIComponent(text));

/** `/mymaster` or `/mymaster/2` of Sentinels, `/2` of a server; nothing of a cluster. */
function readPath(kind: RedisTarget['kind'], pathname: string): Pick<RedisTarget, 'masterName' | 'database'> | null {
  const parts = pathname.split('/').filter((part) => part !== '');
  const masterName = kind === 'sentinel' ? decoded(parts.shift() ?? '') : null;
  const [number, ...more] = parts;
  if (more.length > 0 || (kind === 'sentinel' && masterName === null) || (kind === 'cluster' && number !== undefined))
    return null;
  if (number !== undefined && !/^\d{1,5}$/.test(number)) return null;
  return { masterName, database: number === undefined ? null : Number(number) };
}
