/** The first fault of a value. */
export interface OptionFault {
  /** Names and indexes from the value to the faulty member. */
  readonly path: readonly string[];
  /** The end of a sentence that begins with the member. */
  readonly message: string;
}

/** A check of a plain JSON value. Never throws. */
export type Check = (value: unknown) => OptionFault | null;

const MAX_ECHOED_NAME = 64;

export const faultAt = (path: readonly (string | number)[], message: string): OptionFault => ({
  path: path.map(String),
  message,
});

const below = (name: string | number, fault: OptionFault | null): OptionFault | null =>
  fault === null ? null : { ...fault, path: [String(name), ...fault.path] };

/** An object of known members, each optional unless it is required. */
export function objectOf(members: Readonly<Record<string, Check>>, { required = [] as readonly string[] } = {}): Check {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return faultAt([], 'must be an object');
    const sent = new Map<string, unknown>(Object.entries(value));
    for (const [name, member] of sent) {
      const check = Object.hasOwn(members, name) ? members[name] : undefined;
      if (check === undefined)
        return faultAt(
          [name.slice(0, MAX_ECHOED_NAME)],
          `is not known: the members are ${Object.keys(members).join(', ')}`,
        );
      const fault = below(name, check(member));
      if (fault !== null) return fault;
    }
    const missing = required.find((name) => !sent.has(name));
    return missing === undefined ? null : faultAt([missing], 'is required');
  };
}

export const listOf =
  (item: Check, most: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length > most) return faultAt([], `must be a list of up to ${most}`);
    for (const [at, each] of value.entries()) {
      const fault = below(at, item(each));
      if (fault !== null) return fault;
    }
    return null;
  };

export const oneOf =
  (words: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? null : faultAt([], `must be one of ${words.join(', ')}`);

export const wholeNumber =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high
      ? null
      : faultAt([], `must be a whole number from ${low} to ${high}`);

/** @param message without a value */
export const textLike =
  (pattern: RegExp, message: string): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? null : faultAt([], message);

export const isTrueOrFalse: Check = (value) =>
  typeof value === 'boolean' ? null : faultAt([], 'must be true or false');

/** The checks in turn; the second is called for a value that passes the first. */
export const allOf =
  (first: Check, second: (value: readonly never[]) => OptionFault | null): Check =>
  (value) =>
    first(value) ?? second(value as readonly never[]);
