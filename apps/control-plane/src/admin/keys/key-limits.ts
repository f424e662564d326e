import { LIMIT_NAMES, type KeyLimits } from '@countersign/accounts/accounts';
import { isWholeNumber } from '../crud/fields.js';
import { MAX_LIMIT_PER_MINUTE } from './key.view.js';

const NAMES: readonly unknown[] = LIMIT_NAMES;
const isLimit = isWholeNumber(1, MAX_LIMIT_PER_MINUTE);

/** The first faulty member of `limits`; null when there is none, undefined when the value is no object. */
export function limitsFault(value: unknown): string | null | undefined {
  if (!(value instanceof Map)) return undefined;
  for (const [name, limit] of value as ReadonlyMap<string, unknown>) {
    if (!NAMES.includes(name) || !isLimit(limit)) return name;
  }
  return null;
}

/** The stored form of legal limits. */
export function limitsOf(value: ReadonlyMap<string, unknown>): KeyLimits {
  const limits = LIMIT_NAMES.flatMap((name) => {
    const limit = value.get(name);
    return typeof limit === 'number' ? [[name, limit] as const] : [];
  });
  return Object.fromEntries(limits);
}
