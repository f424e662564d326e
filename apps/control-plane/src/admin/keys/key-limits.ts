import { LIMIT_NAMES, type KeyLimits } from '@countersign/accounts';
import { MAX_LIMIT_PER_MINUTE } from './key.view.js';

const NAMES: readonly unknown[] = LIMIT_NAMES;

/** The first member of `limits`, as it was sent, that is none; null when all are, undefined when it is no object. */
export function limitsFault(value: unknown): string | null | undefined {
  if (!(value instanceof Map)) return undefined;
  for (const [name, limit] of value as ReadonlyMap<string, unknown>) {
    const whole = typeof limit === 'number' && Number.isInteger(limit);
    if (!NAMES.includes(name) || !whole || limit < 1 || limit > MAX_LIMIT_PER_MINUTE) return name;
  }
  return null;
}

/** Legal limits as they are stored. */
export function limitsOf(value: ReadonlyMap<string, unknown>): KeyLimits {
  const limits = LIMIT_NAMES.flatMap((name) => {
    const limit = value.get(name);
    return typeof limit === 'number' ? [[name, limit] as const] : [];
  });
  return Object.fromEntries(limits);
}
