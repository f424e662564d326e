/** Contract, Idempotency: 1 to 255 printable ASCII characters. */
const MAX_KEY_LENGTH = 255;
const PRINTABLE = /^[\x20-\x7e]*$/;
/** A String of RFC 9651, section 3.3.3, without parameters. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * The key in an Idempotency-Key header, either plain or as the quoted string of the IETF draft
 * (draft-ietf-httpapi-idempotency-key-header); both forms are the same key. Null for an illegal key.
 */
export function parseIdempotencyKey(header: string): string | null {
  const [, quoted] = QUOTED.exec(header) ?? [];
  const key = quoted === undefined ? header : quoted.replace(/\\(["\\])/g, '$1');
  return key.length >= 1 && key.length <= MAX_KEY_LENGTH && PRINTABLE.test(key) ? key : null;
}
