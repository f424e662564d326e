import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Its path on all systems but Windows (hosts(5)). */
const HOSTS_FILE = '/etc/hosts';
/** The file is read again after this time. */
const FRESH_MS = 5_000;
/** Further lines are ignored. Block lists of advertisements have a hundred thousand lines. */
const MAX_LINES = 200_000;

type Names = ReadonlyMap<string, readonly LookupAddress[]>;

/** Parses a hosts file: addresses by name in lower case. Malformed lines are ignored. */
export function parseHosts(text: string): Names {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n', MAX_LINES)) {
    const [address = '', ...hostNames] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of hostNames.map((each) => each.toLowerCase())) {
      const known = names.get(name);
      if (known === undefined) names.set(name, [{ address, family }]);
      else known.push({ address, family });
    }
  }
  return names;
}

/** The addresses of the hosts file, which take precedence over DNS as in other programs. */
export class HostsFile {
  #names: Promise<Names> | undefined;
  #readMs = -Infinity;

  constructor(private readonly path = HOSTS_FILE) {}

  /** Empty for a name that is not in the file, and without a file. */
  async addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const nowMs = performance.now();
    if (this.#names === undefined || nowMs - this.#readMs > FRESH_MS) {
      this.#readMs = nowMs;
      this.#names = readFile(this.path, 'utf8').then(parseHosts, () => new Map());
    }
    const names = await this.#names;
    return names.get(hostname.toLowerCase().replace(/\.$/, '')) ?? [];
  }
}
