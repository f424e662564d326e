import { randomInt } from 'node:crypto';
import { COMMON_PASSWORDS } from './common-passwords.js';

/** SMPP 3.4, 5.2.2: an octet string of 9 with its zero. */
export const MAX_PASSWORD_CHARACTERS = 8;
/** Of a password that the administrator chose for a system (contract, Admin). */
export const MIN_CHOSEN_PASSWORD_CHARACTERS = 6;
const MIN_DIFFERENT_CHARACTERS = 3;
/** Without characters that are mistaken for each other: 8 of them are 46 bits. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A random password for a system that connects in: 8 characters, the most that SMPP carries. */
export function createSystemPassword(): string {
  return Array.from({ length: MAX_PASSWORD_CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Is that password among the first guesses: in the list, in either case, or of fewer than 3 different characters? */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  return new Set(lower).size < MIN_DIFFERENT_CHARACTERS || COMMON_PASSWORDS.has(lower);
}
