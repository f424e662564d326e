import { ControlPlaneSettings } from './control-plane.settings.js';
import { GatewaySettings } from './gateway.settings.js';
import { MigrationSettings } from './migration.settings.js';
import { FILE_SUFFIX } from './secret-files.js';
import type { SettingFault } from './settings-error.js';
import { SimulatorSettings } from './simulator.settings.js';
import { listVariables } from './variable.js';

/** Names with this prefix belong to this product. */
const OWN_PREFIX = 'COUNTERSIGN_';
const OTHER_NAMES = [
  // Read by the launcher and the test run.
  'COUNTERSIGN_DATA_DIR',
  'COUNTERSIGN_TEST_REPORT',
  // Used by callers in the examples of the documentation; a developer runs both in one environment.
  'COUNTERSIGN_KEY',
  'COUNTERSIGN_URL',
  'COUNTERSIGN_WEBHOOK_SECRET',
  'COUNTERSIGN_WEBHOOK_SECRETS',
];
/**
 * Maximum edit distance of names is two from this length on, one below it: short names of other programs are often
 * similar.
 */
const LONG_NAME = 12;

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that Kubernetes injects into every container for each service of its namespace. */
const SERVICE_NAME = /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Whether Kubernetes injected a variable for a service: `…_SERVICE_HOST`, `…_PORT_80_TCP`, `…_PORT=tcp://…` and similar. */
function isOfService(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

/** The environment without variables that Kubernetes injects; their names may equal those of settings. */
export function withoutServices(environment: Environment): Environment {
  const kept = Object.entries(environment).filter(([name, value]) => !isOfService(name, value ?? ''));
  return Object.fromEntries(kept);
}

/** The variables of all processes, because they may share one environment. */
export function knownNames(): Set<string> {
  const names = new Set(OTHER_NAMES);
  for (const { prototype } of [ControlPlaneSettings, GatewaySettings, MigrationSettings, SimulatorSettings]) {
    const settings = Object.create(prototype) as object;
    for (const { name, secret } of listVariables(settings).values()) {
      names.add(name);
      if (secret) names.add(name + FILE_SUFFIX);
    }
  }
  return names;
}

/** Faults for misspelled names: those similar to a known name, and every unknown name with the prefix of this product. */
export function misnamed(environment: Environment): SettingFault[] {
  const known = knownNames();
  const faults: SettingFault[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '' || known.has(name)) continue;
    const meant = nearestOf(name, known);
    if (meant !== null) faults.push({ variable: name, fault: 'is not known', allowed: `${meant}, if that is meant` });
    else if (name.startsWith(OWN_PREFIX)) {
      const own = [...known].filter((each) => each.startsWith(OWN_PREFIX)).sort();
      faults.push({ variable: name, fault: 'is not known', allowed: `of this prefix ${own.join(', ')}` });
    }
  }
  return faults;
}

/**
 * The known name most similar to a name, or null if none is similar enough. Both must begin with the same letter:
 * typing errors rarely change it, and it distinguishes names of other programs, such as OpenSSL's SSL_CERT_FILE, from
 * TLS_CERT_FILE.
 */
function nearestOf(name: string, known: ReadonlySet<string>): string | null {
  const plain = name.toUpperCase().replaceAll('-', '_');
  if (known.has(plain)) return plain;
  let nearest: string | null = null;
  let least = name.length >= LONG_NAME ? 2 : 1;
  for (const candidate of known) {
    if (candidate[0] !== plain[0] || Math.abs(candidate.length - plain.length) > least) continue;
    const distance = editDistance(plain, candidate);
    if (distance > least || (distance === least && nearest !== null)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

/** Optimal string alignment distance: insertions, deletions, replacements, and swaps of neighbouring characters. */
export function editDistance(a: string, b: string): number {
  let earlier: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(previous, column - 1) + Number(a[row - 1] !== b[column - 1]);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(earlier, column - 2) + 1 : Infinity;
      current.push(Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped));
    }
    [earlier, previous] = [previous, current];
  }
  return at(previous, b.length);
}

const at = (distances: readonly number[], column: number): number => distances[column] ?? Infinity;
