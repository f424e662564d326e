import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Where a system keeps it that is no Windows (hosts(5)). */
const HOSTS_FILE = '/etc/hosts';
/** It is read again when it is older. */
const FRESH_MS = 5_000;
/** Lists that keep advertisements away have a hundred thousand lines; more than these are passed over. */
const MAX_LINES = 200_000;

type Names = ReadonlyMap<string, readonly LookupAddress[]>;

/** The addresses that the text of a hosts file gives names, in lower case. Lines that are none are passed over. */
export function readHosts(text: string): Names {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n', MAX_LINES)) {
    const [address = '', ...called] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of called.map((each) => each.toLowerCase())) {
      const known = names.get(name);
      if (known === undefined) names.set(name, [{ address, family }]);
      else known.push({ address, family });
    }
  }
  return names;
}

/** Names that whoever runs this computer has pinned: they come before DNS, as for every other program. */
export class HostsFile {
  #names: Promise<Names> | undefined;
  #readMs = -Infinity;

  constructor(private readonly path = HOSTS_FILE) {}

  /** Empty for a name that is not in it, and where there is no such file. */
  async addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const nowMs = performance.now();
    if (this.#names === undefined || nowMs - this.#readMs > FRESH_MS) {
      this.#readMs = nowMs;
      this.#names = readFile(this.path, 'utf8').then(readHosts, () => new Map());
    }
    const names = await this.#names;
    return names.get(hostname.toLowerCase().replace(/\.$/, '')) ?? [];
  }
}
