import type { SettingFault } from './settings-error.js';

const RANDOM_BYTES =
  'random bytes, as "openssl rand -base64 32" makes them, in a version behind the one that is in use';
/** The order of digits and letters differs between alphabets of base62. */
const ALPHABETS = [
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
] as const;
/** `csk_admin_`, 32 random characters, 6 of a checksum. */
const ADMIN_SECRET = /^csk_admin_([0-9A-Za-z]{32})/;

/**
 * The fault of a variable whose keys nobody drew at random: all bytes alike, or each so many more than the one before, as
 * 00 01 02 …. None when one of the keys is better: a weak one is replaced by listing another beside it.
 */
export function weakKeyFaults(variable: string, keys: readonly Buffer[]): SettingFault[] {
  if (!keys.every((key) => isRun([...key], 256))) return [];
  const fault = 'has a key (not shown) of equal bytes, or of a plain run of bytes';
  return [{ variable, fault, allowed: RANDOM_BYTES }];
}

/** The same for the characters of an admin key. */
export function weakAdminKeyFaults(variable: string, adminKey: string): SettingFault[] {
  const [, secret = ''] = ADMIN_SECRET.exec(adminKey) ?? [];
  const placesIn = (alphabet: string): number[] => Array.from(secret, (character) => alphabet.indexOf(character));
  const isWeak = ALPHABETS.some((alphabet) => isRun(placesIn(alphabet), alphabet.length));
  if (!isWeak) return [];
  const fault = 'has a value (not shown) of equal characters, or of a plain run of characters';
  return [{ variable, fault, allowed: 'a key made by the command in config/docker/countersign.env.sample' }];
}

/** Whether every value is the one before it plus the same step, modulo `size`; the step 0 is a repetition. */
function isRun(values: readonly number[], size: number): boolean {
  const steps = new Set(values.slice(1).map((value, at) => (value - (values[at] ?? 0) + size) % size));
  return steps.size <= 1;
}
