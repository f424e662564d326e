import { CONNREFUSED, lookup, NODATA, NOTFOUND, promises, type LookupAddress } from 'node:dns';
import { HostsFile } from './hosts-file.js';

const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
/**
 * Names that the system itself looks up at a time. Each holds one of the few threads that everything in the process shares,
 * for as long as a name server keeps silent: a receiver could choose names whose server does.
 */
const MAX_SYSTEM_LOOKUPS = 2;
const MAX_WAITING = 100;

/** Looks up every address of a name. */
export type LookupAll = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Names without a dot and those kept for the own network: the system knows them, by its own domain. */
const LOCAL = /^[^.]+\.?$|\.(?:localhost|local|internal|home\.arpa)\.?$/i;

/** With an error Node gives no addresses at all, whatever its types say. */
const systemLookup: LookupAll = (hostname, done) => {
  lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
    done(error, error === null ? addresses : []);
  });
};

export interface NameLookupOptions {
  /** `address:port` of name servers; those of the system when left out. */
  readonly servers?: readonly string[];
  readonly system?: LookupAll;
  /** That of the system when left out. */
  readonly hosts?: HostsFile;
}

/**
 * Looks names up such that one whose server keeps silent stands in the way of no other: after the hosts file DNS is asked
 * over sockets, without a thread. What DNS does not know, the system may, and is asked by few at a time.
 */
export function nameLookup(options: NameLookupOptions = {}): LookupAll {
  const { servers, system = systemLookup, hosts = new HostsFile() } = options;
  const askSystem = fewAtATime(system);
  return (hostname, done) => {
    const take = (answer: Answer): void => {
      if (answer.ok) done(null, answer.addresses);
      else if (answer.unknown) askSystem(hostname, done);
      else done(answer.error, []);
    };
    const ask = async (): Promise<Answer> => {
      const addresses = await hosts.addressesOf(hostname);
      return addresses.length > 0 ? { ok: true, addresses } : askDns(hostname, servers);
    };
    if (LOCAL.test(hostname)) askSystem(hostname, done);
    else void ask().then(take);
  };
}

type Answer =
  | { readonly ok: true; readonly addresses: readonly LookupAddress[] }
  | { readonly ok: false; readonly error: NodeJS.ErrnoException; readonly unknown: boolean };

/** A resolver for each name: it is cheap, and knows what the system's configuration says now. */
async function askDns(hostname: string, servers: readonly string[] | undefined): Promise<Answer> {
  const resolver = new promises.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = found.flatMap((each, at) =>
    each.status === 'fulfilled' ? each.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  if (addresses.length > 0) return { ok: true, addresses };
  const errors = found.flatMap((each) => (each.status === 'rejected' ? [errorOf(each.reason)] : []));
  const telling = errors.find(({ code }) => code !== NODATA && code !== NOTFOUND);
  const error = telling ?? errors[0] ?? new Error('the name has no address');
  return { ok: false, error, unknown: telling === undefined || telling.code === CONNREFUSED };
}

const errorOf = (reason: unknown): NodeJS.ErrnoException =>
  reason instanceof Error ? reason : new Error('the look-up failed');

/** The same look-up, of which only so many are under way; the others wait for their turn, up to a bound. */
function fewAtATime(lookUp: LookupAll): LookupAll {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const next = (): void => {
    underWay -= 1;
    waiting.shift()?.();
  };
  return (hostname, done) => {
    const start = (): void => {
      underWay += 1;
      lookUp(hostname, (error, addresses) => {
        next();
        done(error, addresses);
      });
    };
    if (underWay < MAX_SYSTEM_LOOKUPS) start();
    else if (waiting.length < MAX_WAITING) waiting.push(start);
    else done(Object.assign(new Error('too many names are being looked up'), { code: 'EAGAIN' }), []);
  };
}
