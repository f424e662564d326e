import { createHash } from 'node:crypto';

/**
 * Longer texts of a state (PEM certificates) are stored as their beginning, length and digest. URLs have at most as many
 * characters.
 */
const MAX_TEXT_CHARACTERS = 2_048;
/** States of this service have less than 32 KiB. */
const MAX_STATE_OCTETS = 65_536;

/**
 * The JSON of a state of an audit entry, of at most MAX_STATE_OCTETS. A text of more than 2,048 characters becomes its
 * first 2,048, its length and its SHA-256, so that a change beyond them is seen; a larger state becomes `{ unreadable }`.
 */
export function auditedJson(state: object): string {
  const json = JSON.stringify(state, (_name, value: unknown) =>
    typeof value === 'string' ? boundedText(value) : value,
  );
  const octets = Buffer.byteLength(json);
  return octets <= MAX_STATE_OCTETS ? json : JSON.stringify({ unreadable: `JSON of ${octets} octets` });
}

function boundedText(text: string): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return text;
  // Not between the two halves of a surrogate pair.
  const head = text.slice(0, MAX_TEXT_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  return `${head}… [${text.length} characters, SHA-256 ${createHash('sha256').update(text).digest('hex')}]`;
}
