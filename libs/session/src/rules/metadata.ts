import type { Metadata } from './session.js';

/**
 * Metadata as JSON text with the caller's order of keys. Written pair by pair: through an object, integer-like keys
 * would move to the front and `__proto__` would vanish.
 */
export function encodeMetadata(metadata: Metadata): string {
  return `{${metadata.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** A JSON string: no alternative can start where another does, so matching is linear. */
const JSON_STRING = /"(?:[^"\\]|\\.)*"/gs;

/** Reads what `encodeMetadata` wrote, order kept. Throws on anything else: the text comes from our own column. */
export function parseMetadata(text: string): Metadata {
  const strings = text.match(JSON_STRING) ?? [];
  const pairs: [string, string][] = [];
  for (let index = 0; index < strings.length; index += 2) {
    pairs.push([parseString(strings[index]), parseString(strings[index + 1])]);
  }
  return pairs;
}

function parseString(literal: string | undefined): string {
  const value: unknown = JSON.parse(literal ?? 'null');
  if (typeof value !== 'string') throw new TypeError('metadata holds something other than strings');
  return value;
}
