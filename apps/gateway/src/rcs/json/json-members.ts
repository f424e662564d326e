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

const [QUOTE, BACKSLASH, COLON, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x2c, 0x5b, 0x7b];
const STRUCTURAL: ReadonlySet<number | undefined> = new Set([COLON, COMMA, BRACKET, BRACE]);

/**
 * Whether JSON has more members and values than that, without parsing it: to parse 6,600 different names takes 17 ms, to find that
 * there are too many takes none of it. Octets that are not JSON count in any way.
 */
export function hasMoreValues(octets: Buffer, most: number): boolean {
  let values = 0;
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at];
    if (octet === QUOTE) at = endOfString(octets, at);
    else if (STRUCTURAL.has(octet)) values += 1;
    if (values > most) return true;
  }
  return false;
}

/** The index of the quote that ends the string which begins there, or of the last octet. */
function endOfString(octets: Buffer, begin: number): number {
  for (let at = octets.indexOf(QUOTE, begin + 1); at >= 0; at = octets.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (octets[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return octets.length;
}

/** The named member if it is an object, else null. */
export function objectIn(members: Members, name: string): Members | null {
  return Object.hasOwn(members, name) ? asMembers(members[name]) : null;
}

/** The named member if it is a string of at most `maxLength` characters, else null. */
export function textIn(members: Members, name: string, maxLength: number): string | null {
  const value = Object.hasOwn(members, name) ? members[name] : null;
  return typeof value === 'string' && value.length <= maxLength ? value : null;
}
