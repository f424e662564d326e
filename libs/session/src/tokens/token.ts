import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';

/** Crockford's base32: no I, L, O or U, so that a token read aloud or retyped is unambiguous. */
export const TOKEN_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 16 characters of 5 bits: 80 bits cannot be guessed within the lifetime of a session. */
export const TOKEN_LENGTH = 16;

const BITS_PER_CHARACTER = 5;
const TOKEN_BYTES = (TOKEN_LENGTH * BITS_PER_CHARACTER) / 8;

/**
 * The token of a session, without its `AUTH-<SLUG>-` prefix (contract, Token). Derived from the session id with a
 * server key: only its digest is stored, and `fallbackUri` can be rendered at any time.
 *
 * @param version of the master key that the session was created with; the current one for a new session
 */
export function deriveToken(keys: ServerKeys, id: Uuid, version = keys.currentVersion): string {
  const bytes = keys.digest('token', id, version).subarray(0, TOKEN_BYTES);
  let token = '';
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= BITS_PER_CHARACTER) {
      bits -= BITS_PER_CHARACTER;
      token += TOKEN_ALPHABET.charAt((pending >>> bits) & 31);
    }
    pending &= (1 << bits) - 1;
  }
  return token;
}

/**
 * The digest stored for a new session in place of its token: 32 bytes over slug and token together, so that a token
 * under another brand's slug is unknown.
 */
export function tokenDigest(keys: ServerKeys, slug: string, token: string): Buffer {
  return keys.digest('token-digest', `AUTH-${slug}-${token}`);
}

/** The digests under which a session with this token may be stored: one per version of the master key. */
export function tokenDigests(keys: ServerKeys, slug: string, token: string): readonly Buffer[] {
  return keys.digests('token-digest', `AUTH-${slug}-${token}`);
}
