import { randomInt } from 'node:crypto';
import { COMMON_PASSWORDS } from './common-passwords.js';

/** SMPP 3.4, 5.2.2: a C-octet string of 9 octets including its NUL. */
export const MAX_PASSWORD_CHARACTERS = 8;
/** Minimum length of a system password chosen by the administrator (contract, Admin). */
export const MIN_CHOSEN_PASSWORD_CHARACTERS = 6;
const MIN_DIFFERENT_CHARACTERS = 3;
/** Without characters that are easily confused: 8 of these have 46 bits. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A random password for a system that connects in: 8 characters, the maximum of SMPP. */
export function createSystemPassword(): string {
  return Array.from({ length: MAX_PASSWORD_CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Whether a password is easily guessed: in the list, in either case, or with fewer than 3 different characters. */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  return new Set(lower).size < MIN_DIFFERENT_CHARACTERS || COMMON_PASSWORDS.has(lower);
}
