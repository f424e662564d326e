import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The kind of a key: an account in live mode, an account in test mode, or an administrator. */
export type ApiKeyKind = 'live' | 'test' | 'admin';

/** The information in the text of a key: its kind, and the part that listings may show. */
export interface ParsedApiKey {
  readonly kind: ApiKeyKind;
  /**
   * `csk_<kind>_` and the first four characters of the secret part: enough to recognise a key, too little to guess
   * it.
   */
  readonly prefix: string;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;
const PREFIX_CHARACTERS = 4;
/** The largest multiple of 62 in an octet: larger octets are discarded, so that every character is equally likely. */
const UNBIASED_BELOW = 248;

const SHAPE = /^(csk_(live|test|admin)_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/**
 * A new API key: `csk_<kind>_`, 32 base62 characters from the system's generator (190 bits), 6 base62 digits of the
 * CRC-32 of the preceding text (contract, Authentication). Shown once; only `ServerKeys.digest('api-key', …)` is
 * stored.
 */
export function createApiKey(kind: ApiKeyKind): string {
  const unsigned = `csk_${kind}_${randomBase62(SECRET_CHARACTERS)}`;
  return unsigned + checksum(unsigned);
}

/**
 * Checks the shape and the checksum of a key; null for a mistyped or invented key, before any database read. It does
 * not authenticate the caller.
 */
export function parseApiKey(text: string): ParsedApiKey | null {
  const [, unsigned, kind, check] = SHAPE.exec(text) ?? [];
  if (unsigned === undefined || !isKind(kind) || check !== checksum(unsigned)) return null;
  return { kind, prefix: unsigned.slice(0, unsigned.length - SECRET_CHARACTERS + PREFIX_CHARACTERS) };
}

function isKind(text: string | undefined): text is ApiKeyKind {
  return text === 'live' || text === 'test' || text === 'admin';
}

function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62)) {
    digits = BASE62.charAt(rest % 62) + digits;
  }
  return digits;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const octet of randomBytes(length)) {
      if (octet < UNBIASED_BELOW && text.length < length) text += BASE62.charAt(octet % 62);
    }
  }
  return text;
}
