/** The own members of a JSON object from outside; inherited properties do not count. */
export type Members = Readonly<Record<string, unknown>>;

/** Parses octets as one JSON object; null when they are not one, or not UTF-8. */
export function parseMembers(octets: Buffer): Members | null {
  try {
    return asMembers(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets)) as unknown);
  } catch {
    return null;
  }
}

/** The value as an object; null for other values, arrays included. */
const asMembers = (value: unknown): Members | null => (isMembers(value) ? value : null);

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The named member if it is an object, else null. */
export function objectIn(members: Members, name: string): Members | null {
  return Object.hasOwn(members, name) ? asMembers(members[name]) : null;
}

/** The named member if it is a string of at most `maxLength` characters, else null. */
export function textIn(members: Members, name: string, maxLength: number): string | null {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  return typeof value === 'string' && value.length <= maxLength ? value : null;
}
