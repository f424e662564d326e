/** A JSON object of somebody else: whatever it inherits is not its own. */
export type Members = Readonly<Record<string, unknown>>;

/** The text as one JSON object, or null. Octets that are not UTF-8 make no text. */
export function readMembers(octets: Buffer): Members | null {
  try {
    return membersOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets)) as unknown);
  } catch {
    return null;
  }
}

/** The value as an object, or null: an array is none. */
export function membersOf(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

/** A member that is an object, or null. */
export function objectIn(members: Members, name: string): Members | null {
  return Object.hasOwn(members, name) ? membersOf(members[name]) : null;
}

/** A member that is a text and not longer than that, or null. */
export function textIn(members: Members, name: string, maxLength: number): string | null {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  return typeof value === 'string' && value.length <= maxLength ? value : null;
}
