import { CONNREFUSED, lookup, NODATA, NOTFOUND, promises, type LookupAddress } from 'node:dns';
import { HostsFile } from './hosts-file.js';

const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
/**
 * Concurrent look-ups by the system. Each holds one of the few threads of the process (libuv) until the name server responds,
 * and a receiver may choose names whose server never does.
 */
const MAX_SYSTEM_LOOKUPS = 2;
const MAX_WAITING = 100;

/** Looks up every address of a name. */
export type LookupAll = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Names without a dot and names of local networks, which the system resolves with its own domain. */
const LOCAL = /^[^.]+\.?$|\.(?:localhost|local|internal|home\.arpa)\.?$/i;

export const isLocalName = (hostname: string): boolean => LOCAL.test(hostname);

/** With an error, Node calls back without addresses, unlike its types. */
const systemLookup: LookupAll = (hostname, done) => {
  lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
    done(error, error === null ? addresses : []);
  });
};

export interface NameLookupOptions {
  /** `address:port` of name servers; by default those of the system. */
  readonly servers?: readonly string[];
  readonly system?: LookupAll;
  /** By default that of the system. */
  readonly hosts?: HostsFile;
}

/**
 * Looks names up so that a silent name server delays no other name: first in the hosts file, then by DNS over sockets, without
 * a thread. The system is asked for local names and for names unknown to DNS, a few at a time.
 */
export function nameLookup(options: NameLookupOptions = {}): LookupAll {
  const { servers, system = systemLookup, hosts = new HostsFile() } = options;
  const lookUpBySystem = limitConcurrency(system);
  return (hostname, done) => {
    const report = (answer: Answer): void => {
      if (answer.ok) done(null, answer.addresses);
      else if (answer.unknown) lookUpBySystem(hostname, done);
      else done(answer.error, []);
    };
    const lookUp = async (): Promise<Answer> => {
      const addresses = await hosts.addressesOf(hostname);
      return addresses.length > 0 ? { ok: true, addresses } : lookUpByDns(hostname, servers);
    };
    if (isLocalName(hostname)) lookUpBySystem(hostname, done);
    else void lookUp().then(report);
  };
}

type Answer =
  | { readonly ok: true; readonly addresses: readonly LookupAddress[] }
  | { readonly ok: false; readonly error: NodeJS.ErrnoException; readonly unknown: boolean };

/** Uses a new resolver for each name: it is cheap, and reads the current configuration of the system. */
async function lookUpByDns(hostname: string, servers: readonly string[] | undefined): Promise<Answer> {
  const resolver = new promises.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = found.flatMap((each, at) =>
    each.status === 'fulfilled' ? each.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  if (addresses.length > 0) return { ok: true, addresses };
  const errors = found.flatMap((each) => (each.status === 'rejected' ? [errorOf(each.reason)] : []));
  const serverError = errors.find(({ code }) => code !== NODATA && code !== NOTFOUND);
  const error = serverError ?? errors[0] ?? new Error('the name has no address');
  return { ok: false, error, unknown: serverError === undefined || serverError.code === CONNREFUSED };
}

const errorOf = (reason: unknown): NodeJS.ErrnoException =>
  reason instanceof Error ? reason : new Error('the look-up failed');

/** Limits concurrent look-ups to MAX_SYSTEM_LOOKUPS; up to MAX_WAITING more wait, others fail with EAGAIN. */
function limitConcurrency(lookUp: LookupAll): LookupAll {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = (): void => {
    running -= 1;
    waiting.shift()?.();
  };
  return (hostname, done) => {
    const start = (): void => {
      running += 1;
      lookUp(hostname, (error, addresses) => {
        next();
        done(error, addresses);
      });
    };
    if (running < MAX_SYSTEM_LOOKUPS) start();
    else if (waiting.length < MAX_WAITING) waiting.push(start);
    else done(Object.assign(new Error('too many names are being looked up'), { code: 'EAGAIN' }), []);
  };
}
