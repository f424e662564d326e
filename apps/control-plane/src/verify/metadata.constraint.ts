import type { Metadata } from '@countersign/session/rules';
import { ValidateBy, type ValidationOptions } from 'class-validator';
import type { JsonObject } from '../http/json-body.js';

/** Specification 8; the length of keys is from the contract. Lengths count Unicode code points. */
export const MAX_METADATA_KEYS = 16;
export const MAX_METADATA_KEY_LENGTH = 64;
export const MAX_METADATA_VALUE_LENGTH = 512;

/** `within` is the illegal key, or undefined when metadata as a whole is illegal. */
export type MetadataFault = { readonly within: string | undefined };

/** The first fault in parsed metadata, in the order of its keys; null when it is legal. */
export function metadataFault(value: unknown): MetadataFault | null {
  if (!(value instanceof Map) || value.size > MAX_METADATA_KEYS) return { within: undefined };
  for (const [key, text] of value as ReadonlyMap<string, unknown>) {
    const legal =
      key !== '' &&
      atMost(MAX_METADATA_KEY_LENGTH, key) &&
      typeof text === 'string' &&
      atMost(MAX_METADATA_VALUE_LENGTH, text);
    if (!legal) return { within: key === '' ? undefined : key };
  }
  return null;
}

/** Up to 16 keys of 1 to 64 characters, string values of at most 512 (contract, Session). */
export function IsMetadata(options: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name: 'isMetadata', validator: { validate: (value) => metadataFault(value) === null } }, options);
}

/** Legal metadata as pairs, in the order they were sent. */
export function metadataPairs(metadata: JsonObject): Metadata {
  const pairs: [string, string][] = [];
  for (const [key, value] of metadata) if (typeof value === 'string') pairs.push([key, value]);
  return pairs;
}

/** Code points are at most the code units and at least half of them, so only a few strings have to be counted. */
function atMost(limit: number, text: string): boolean {
  if (text.length <= limit) return true;
  return text.length <= 2 * limit && Array.from(text).length <= limit;
}
