import type { SettingFault } from './settings-error.js';

/** The keys of a control plane, decoded. */
export interface KeySet {
  readonly masterKeys: ReadonlyMap<number, Buffer>;
  readonly entropyKeys: ReadonlyMap<number, Buffer>;
  readonly adminKey: string;
}

const ENTROPY = 'COUNTERSIGN_ENTROPY_KEYS';
const MASTER = 'COUNTERSIGN_MASTER_KEY';
const ADMIN = 'COUNTERSIGN_ADMIN_KEY';
const ADMIN_PREFIX = 'csk_admin_';
const ADMIN_SECRET_CHARACTERS = 32;

/**
 * Keys that serve two purposes: gateways hold the master key and engineers the admin key, and neither may have what
 * `authEntropy` is derived from. An entropy key may equal a version of the master key while another version, which
 * equals none, is there to replace it: an entropy key cannot be replaced.
 */
export function sharedKeyFaults({ masterKeys, entropyKeys, adminKey }: KeySet): SettingFault[] {
  const entropy = [...entropyKeys.values()];
  const master = [...masterKeys.values()];
  const admin = formsOf(adminKey);
  const faults: SettingFault[] = [];
  if (master.every((key) => isIn(entropy, key))) faults.push(equal(ENTROPY, MASTER, 'another key for each variable'));
  if (admin.some((key) => isIn(entropy, key))) faults.push(equal(ENTROPY, ADMIN, 'another key for each variable'));
  if (admin.some((key) => isIn(master, key))) faults.push(equal(MASTER, ADMIN, 'another key for each variable'));
  return faults;
}

/** A master key that is being replaced, and is an entropy key too: as a sentence. */
export function sharedKeyWarnings({ masterKeys, entropyKeys }: KeySet): string[] {
  const entropy = [...entropyKeys.values()];
  const shared = [...masterKeys].flatMap(([version, key]) => (isIn(entropy, key) ? [version] : []));
  if (shared.length === 0) return [];
  return [
    `version ${shared.join(', ')} of ${MASTER} is a key of ${ENTROPY} too: rotate to another version, then remove it from ${MASTER}`,
  ];
}

/** An admin key is text; a decoded key equals it as a whole, or its random part with or without the checksum. */
function formsOf(adminKey: string): Buffer[] {
  const tail = adminKey.slice(ADMIN_PREFIX.length);
  return [adminKey, tail, tail.slice(0, ADMIN_SECRET_CHARACTERS)].map((text) => Buffer.from(text, 'latin1'));
}

const isIn = (keys: readonly Buffer[], key: Buffer): boolean => keys.some((each) => each.equals(key));

const equal = (variable: string, other: string, allowed: string): SettingFault => ({
  variable,
  fault: `has the same key (not shown) as ${other}`,
  allowed,
});
