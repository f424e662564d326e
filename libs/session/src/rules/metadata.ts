import type { Metadata } from './session.js';

/**
 * Metadata as JSON text with the caller's key order. Written pair by pair: in an object, integer-like keys would move
 * to the front and `__proto__` would be lost.
 */
export function encodeMetadata(metadata: Metadata): string {
  return `{${metadata.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** A JSON string: no two alternatives start with the same character, so matching is linear. */
const JSON_STRING = /"(?:[^"\\]|\\.)*"/gs;

/** Parses the output of `encodeMetadata`, in order. Throws on other input: the text comes from our own column. */
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
  if (typeof value !== 'string') throw new TypeError('metadata holds a value that is not a string');
  return value;
}
