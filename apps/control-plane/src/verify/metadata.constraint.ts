import type { Metadata } from '@countersign/session/rules';
import { ValidateBy, type ValidationOptions } from 'class-validator';
import type { JsonObject } from '../http/json-body.js';

/** Specification 8, and the contract for the length of keys. Lengths count Unicode code points. */
export const MAX_METADATA_KEYS = 16;
export const MAX_METADATA_KEY_LENGTH = 64;
export const MAX_METADATA_VALUE_LENGTH = 512;

/** `within` is the key that offends, or undefined when metadata as a whole does. */
export type MetadataFault = { readonly within: string | undefined };

/** The first fault in metadata as it was sent, in the order of its keys; null when it is legal. */
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

/** A string has at most as many code points as code units, and at least half as many: few have to be counted. */
function atMost(limit: number, text: string): boolean {
  if (text.length <= limit) return true;
  return text.length <= 2 * limit && Array.from(text).length <= limit;
}
