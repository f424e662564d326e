import { findStraddlingTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from '@countersign/session/tokens';
import { decodePart, findCutTokens, type PartOctets, type StoredPart } from './part-octets.js';

/**
 * The tokens of one part of a long message: those in its own text, and those across its edges, which it completes together
 * with stored parts. A token that other parts hold without this one is left out: those parts were matched by it. Parts may
 * arrive in any order; only consecutive part numbers are read as one text. If there is none, the joined octets are read,
 * which the edges of the texts do not show where a character was cut.
 *
 * @param own tokens of the part's own text
 * @param number of the part
 * @param nearby parts by number, by `encodePart`
 */
export function tokensOfPart(
  own: readonly FoundToken[],
  number: number,
  nearby: ReadonlyMap<number, string>,
): FoundToken[] {
  const parts = new Map([...nearby].map(([key, stored]) => [key, decodePart(stored)]));
  const part = parts.get(number) ?? NO_PART;
  const straddling = findStraddlingTokens(part.edges, edgesOf(run(parts, number, -1)), edgesOf(run(parts, number, 1)));
  const others = straddling.filter((found) => !own.some((known) => isSame(known, found)));
  const found = [...own, ...others];
  return (found.length > 0 ? found : cutTokens(part, number, parts)).slice(0, MAX_TOKENS_PER_MESSAGE);
}

const NO_PART: StoredPart = { edges: '', octets: null };

const isSame = (a: FoundToken, b: FoundToken): boolean => a.token === b.token && a.slug === b.slug;

function cutTokens(part: StoredPart, number: number, parts: ReadonlyMap<number, StoredPart>): FoundToken[] {
  const encoding = [part, ...run(parts, number, -1), ...run(parts, number, 1)].find(({ octets }) => octets !== null)
    ?.octets?.encoding;
  const own = encoding === undefined ? null : octetsIn(encoding, part);
  if (encoding === undefined || own === null) return [];
  const side = (step: 1 | -1): PartOctets[] => takeOctets(encoding, run(parts, number, step));
  return findCutTokens(own, side(-1), side(1));
}

/** The octets of parts up to the first in another encoding. */
function takeOctets(encoding: PartOctets['encoding'], parts: Iterable<StoredPart>): PartOctets[] {
  const taken: PartOctets[] = [];
  for (const part of parts) {
    const octets = octetsIn(encoding, part);
    if (octets === null) break;
    taken.push(octets);
  }
  return taken;
}

/** A part without octets is ASCII, which is UTF-8 too. */
function octetsIn(encoding: PartOctets['encoding'], { edges, octets }: StoredPart): PartOctets | null {
  if (octets !== null) return octets.encoding === encoding ? octets : null;
  return encoding === 'utf8' ? { encoding, head: Buffer.from(edges), tail: null } : null;
}

function* edgesOf(parts: Iterable<StoredPart>): Generator<string> {
  for (const { edges } of parts) yield edges;
}

/** The parts on one side, nearest first, up to the first missing part. */
function* run(parts: ReadonlyMap<number, StoredPart>, number: number, step: 1 | -1): Generator<StoredPart> {
  for (let at = number + step; ; at += step) {
    const part = parts.get(at);
    if (part === undefined) return;
    yield part;
  }
}
