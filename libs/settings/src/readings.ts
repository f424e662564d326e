import { accessSync, constants } from 'node:fs';
import { databaseUrls, readRedisUrl } from '@countersign/store-urls';
import ipaddr from 'ipaddr.js';
import type { Reading } from './variable.js';
import { describeWrongValue } from './wrong-value.js';

export const KEY_OCTETS = 32;
const LONGEST_ENTROPY_KEY_OCTETS = 64;
/** Far below the limit of PostgreSQL's integer, and far above any real number of entropy keys. */
const HIGHEST_ENTROPY_VERSION = 1_000_000;
/** The version in a sealed value is one octet. */
const HIGHEST_MASTER_VERSION = 255;

const WHOLE_NUMBER = /^-?[0-9]{1,15}$/;
const HOST = /^(?!-)[A-Za-z0-9.-]{1,253}$/;

/**
 * Functions from texts of the environment to values; an invalid text gives a fault, which does not contain the text.
 */
export function readText(text: string): Reading {
  return { value: text };
}

export function readWholeNumber(text: string): Reading {
  return WHOLE_NUMBER.test(text) ? { value: Number(text) } : { fault: 'is not a whole number' };
}

export function readFlag(text: string): Reading {
  if (text === 'true') return { value: true };
  return text === 'false' ? { value: false } : { fault: 'is neither true nor false' };
}

/** An address or name to listen on, without port or brackets. */
export function readHost(text: string): Reading {
  return HOST.test(text) || ipaddr.isValid(text) ? { value: text } : { fault: 'is no address and no host name' };
}

/** A comma-separated list of names and addresses, as in URLs but without brackets; in lower case. */
export function readHosts(text: string): Reading {
  const hosts = text.split(',').map((part) => part.trim().toLowerCase());
  const wrong = hosts.find((host) => 'fault' in readHost(host));
  if (wrong !== undefined)
    return { fault: `has an entry ${describeWrongValue(wrong)} that is no address and no host name` };
  return { value: Object.freeze(hosts) };
}

/** A comma-separated list of CIDR ranges, each with its prefix length; a single address is a range of one. */
export function readCidrs(text: string): Reading {
  const ranges: string[] = [];
  for (const entry of text.split(',').map((part) => part.trim())) {
    const range = entry.includes('/') ? entry : `${entry}/${entry.includes(':') ? 128 : 32}`;
    if (!isRange(range)) return { fault: `has an entry ${describeWrongValue(entry)} that is no address range` };
    ranges.push(range);
  }
  return { value: Object.freeze(ranges) };
}

/** The library also accepts `10/8` and `0x7f.1/8`, which most readers would misunderstand. */
function isRange(text: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text);
}

/** A URL with one of the protocols (`redis:`), returned unchanged. */
export function readUrl(text: string, protocols: readonly string[]): Reading {
  if (!URL.canParse(text)) return { fault: 'is no URL' };
  return protocols.includes(new URL(text).protocol) ? { value: text } : { fault: 'has another protocol' };
}

const ANY_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const DATABASE_SCHEME = /^postgres(?:ql)?:/i;
const REDIS_SCHEME = /^rediss?(?:\+sentinel|\+cluster)?:/i;

export const readDatabaseUrl = (text: string): Reading => readStoreUrl(text, DATABASE_SCHEME, databaseUrls(text));
export const readRedis = (text: string): Reading => readStoreUrl(text, REDIS_SCHEME, readRedisUrl(text));

/** The URL of a store, unchanged. @param parts of the URL; null if it has another form */
function readStoreUrl(text: string, scheme: RegExp, parts: object | null): Reading {
  if (!ANY_SCHEME.test(text)) return { fault: 'is no URL' };
  if (!scheme.test(text)) return { fault: 'has another protocol' };
  return parts === null ? { fault: 'has hosts, a path or parameters of another form' } : { value: text };
}

/** An https URL to which paths are appended: no user, query, fragment or trailing slash. */
export function readBaseUrl(text: string): Reading {
  if (!URL.canParse(text)) return { fault: 'is no URL' };
  const url = new URL(text);
  return url.protocol === 'https:' ? readPlainUrl(url) : { fault: 'is not https' };
}

function readPlainUrl(url: URL): Reading {
  if (url.username || url.password || url.search || url.hash) return { fault: 'has a user, a query or a fragment' };
  return { value: `${url.origin}${url.pathname}`.replace(/\/+$/, '') };
}

/**
 * Whether data sent there cannot be read in transit: https, or plain http to loopback. A name is loopback only if it
 * is `localhost`.
 */
export function isGuardedUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost') return true;
  const address = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** As `readBaseUrl`, for a service that is called with credentials: https, or http on loopback. */
export function readServiceUrl(text: string): Reading {
  if (!URL.canParse(text)) return { fault: 'is no URL' };
  if (!isGuardedUrl(text)) return { fault: 'is neither https nor on loopback' };
  return readPlainUrl(new URL(text));
}

/** A file that this process may read; its content is not read. */
export function readFilePath(text: string): Reading {
  try {
    accessSync(text, constants.R_OK);
    return { value: text };
  } catch {
    return { fault: 'is no file that this process can read' };
  }
}

/**
 * `<base64>`, which is version 1, or `1:<base64>[,2:<base64>…]`, as a map from version to key in the order of the
 * text: the first version is current.
 */
export function readMasterKeys(text: string): Reading {
  if (text.includes(':')) return withoutRepeats(readKeyRing(text, MASTER_RING));
  const key = base64(text);
  if (key === null) return { fault: 'is not standard base64' };
  return key.length === KEY_OCTETS ? { value: new Map([[1, key]]) } : { fault: `has ${key.length} bytes` };
}

/** `1:<base64>[,2:<base64>…]` as a map from version to key. */
export function readEntropyKeys(text: string): Reading {
  return readKeyRing(text, ENTROPY_RING);
}

interface RingLimits {
  readonly highestVersion: number;
  readonly longestOctets: number;
}

type RingReading = { readonly value: ReadonlyMap<number, Buffer> } | { readonly fault: string };

const MASTER_RING: RingLimits = { highestVersion: HIGHEST_MASTER_VERSION, longestOctets: KEY_OCTETS };
const ENTROPY_RING: RingLimits = {
  highestVersion: HIGHEST_ENTROPY_VERSION,
  longestOctets: LONGEST_ENTROPY_KEY_OCTETS,
};

/** The fault of a ring with the same key under two versions; null for none. */
export function repeatedKeyFault(keys: ReadonlyMap<number, Buffer>): string | null {
  const versions = new Map<string, number>();
  for (const [version, key] of keys) {
    const text = key.toString('hex');
    const same = versions.get(text);
    if (same !== undefined) return `has the same key for the versions ${same} and ${version}`;
    versions.set(text, version);
  }
  return null;
}

/**
 * The same master key under two versions is a mistake: a rotation between them would reseal every row without effect.
 */
function withoutRepeats(reading: RingReading): RingReading {
  if ('fault' in reading) return reading;
  const fault = repeatedKeyFault(reading.value);
  return fault === null ? reading : { fault };
}

function readKeyRing(text: string, { highestVersion, longestOctets }: RingLimits): RingReading {
  const keys = new Map<number, Buffer>();
  for (const entry of text.split(',')) {
    const [, version, encoded] = /^([1-9][0-9]{0,6}):(.+)$/.exec(entry.trim()) ?? [];
    if (version === undefined || encoded === undefined) return { fault: `has an entry that is not <version>:<base64>` };
    if (Number(version) > highestVersion) return { fault: `has a version above ${highestVersion}` };
    if (keys.has(Number(version))) return { fault: `names version ${version} twice` };
    const key = base64(encoded);
    if (key === null) return { fault: `has a version ${version} that is not standard base64` };
    if (key.length < KEY_OCTETS || key.length > longestOctets) {
      return { fault: `has a version ${version} of ${key.length} bytes` };
    }
    keys.set(Number(version), key);
  }
  return { value: keys };
}

/**
 * Standard base64 with padding, or null. Node's decoder ignores invalid characters, so the result is encoded and
 * compared.
 */
function base64(text: string): Buffer | null {
  const octets = Buffer.from(text, 'base64');
  return octets.length > 0 && octets.toString('base64') === text ? octets : null;
}
