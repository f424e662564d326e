import { randomInt } from 'node:crypto';

/** Crockford's base 32, as in all ids. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const PROCESS_DIGITS = 8;
const COUNTER_DIGITS = 8;

function digits(value: number, count: number): string {
  let text = '';
  for (let left = value, at = 0; at < count; at += 1, left = Math.floor(left / ALPHABET.length)) {
    text = ALPHABET.charAt(left % ALPHABET.length) + text;
  }
  return text;
}

/**
 * Creates a generator of request ids, `req_` and 26 characters that sort by time: the millisecond, eight characters
 * of the process, and a counter. Not secret, so not random, which costs a hundredth of a random id per request.
 */
export function createRequestIds(nowMs: () => number = Date.now): () => string {
  const process = Array.from({ length: PROCESS_DIGITS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  let counter = 0;
  let millisecond = -1;
  let prefix = '';
  return () => {
    const now = nowMs();
    if (now !== millisecond) {
      millisecond = now;
      prefix = `req_${digits(now, TIME_DIGITS)}${process}`;
    }
    counter += 1;
    return prefix + digits(counter, COUNTER_DIGITS);
  };
}
