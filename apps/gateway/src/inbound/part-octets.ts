import { CUT, findTokens, TOKEN_SPAN, tokenEdges, type FoundToken } from '@countersign/session/tokens';
import { decodeUcs2, decodeUtf8Piece } from '@countersign/text';

/** Octets of the longest token in UCS-2: those beyond are not read. */
const SPAN_OCTETS = 2 * TOKEN_SPAN;

/**
 * The octets of a part whose alphabet has characters of several octets: a cut between parts may lie inside of one. `head`
 * is the whole text if it is short (`tail` null), else its beginning.
 */
export interface PartOctets {
  readonly encoding: 'ucs2' | 'utf8';
  readonly head: Buffer;
  readonly tail: Buffer | null;
}

/** The stored form of a part: the edges of its text, and its octets where characters may be cut. */
export interface StoredPart {
  readonly edges: string;
  readonly octets: PartOctets | null;
}

export function partOctets(encoding: PartOctets['encoding'], octets: Buffer): PartOctets {
  if (octets.length <= 2 * SPAN_OCTETS) return { encoding, head: octets, tail: null };
  // Begins at an even offset of the text, so that its length shows whether it ends with half a unit.
  const tail = octets.subarray(-SPAN_OCTETS + (octets.length % 2));
  return { encoding, head: octets.subarray(0, SPAN_OCTETS), tail };
}

/**
 * The edges of a part, by `tokenEdges`. Half a UCS-2 unit at the end of the part is not in its text: no token is read across
 * it as if the unit were not there.
 */
export function partEdges(text: string, octets: PartOctets | null): string {
  const endsCut = octets?.encoding === 'ucs2' && (octets.tail ?? octets.head).length % 2 > 0;
  return tokenEdges(endsCut ? text + CUT : text);
}

/** Upper octet of the units of wide forms. */
const WIDE_FORMS = 0xff;

const ENCODINGS = { u: 'ucs2', b: 'utf8' } as const;
const OCTETS_SECTION = new RegExp(`${CUT}\\|([ub])([ws])([\\u0000-\\u00ff]*)\\|${CUT}`);

/**
 * One string of edges and octets. The edges are on both sides of the octets, so that a gateway of a release that knows no
 * octets reads the right beginning and end.
 */
export function encodePart({ edges, octets }: StoredPart): string {
  if (octets === null) return edges;
  const { encoding, head, tail } = octets;
  const bytes = tail === null ? head : Buffer.concat([head, tail]);
  const letters = `${encoding === 'ucs2' ? 'u' : 'b'}${tail === null ? 'w' : 's'}`;
  return `${edges}${CUT}|${letters}${bytes.toString('latin1')}|${CUT}${edges}`;
}

/** Text of any other form is edges alone. */
export function decodePart(stored: string): StoredPart {
  const found = OCTETS_SECTION.exec(stored);
  if (found === null) return { edges: stored, octets: null };
  const [, encoding, form, latin1 = ''] = found;
  const bytes = Buffer.from(latin1, 'latin1');
  const isWhole = form === 'w';
  const octets = {
    encoding: ENCODINGS[encoding === 'u' ? 'u' : 'b'],
    head: isWhole ? bytes : bytes.subarray(0, SPAN_OCTETS),
    tail: isWhole ? null : bytes.subarray(SPAN_OCTETS),
  };
  return { edges: stored.slice(0, found.index), octets };
}

/** Octets in a row; `cutBefore`, `cutAfter`: the text goes on there, but not in these octets. */
interface Run {
  readonly octets: Buffer;
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
}

/**
 * The tokens of a part together with its neighbours, read from the joined octets: characters that were cut are whole there.
 * UCS-2 is read from either octet, since a part behind a cut unit begins with its second half. Tokens that lie in the
 * neighbours of one side alone are left out.
 *
 * @param before nearest first, consecutive, of the same encoding
 */
export function findCutTokens(
  own: PartOctets,
  before: Iterable<PartOctets>,
  after: Iterable<PartOctets>,
): FoundToken[] {
  const [head, tail] = [octetsBefore(before), octetsAfter(after)];
  const known = new Set([head, tail].flatMap((run) => tokensOfRun(run, own.encoding)).map(spelled));
  const joined =
    own.tail === null ? [joinRuns(head, wholeRun(own.head), tail)] : splitRuns(own.head, own.tail, head, tail);
  const found = new Map<string, FoundToken>();
  for (const token of joined.flatMap((run) => tokensOfRun(run, own.encoding))) {
    if (!known.has(spelled(token))) found.set(spelled(token), token);
  }
  return [...found.values()];
}

const spelled = ({ slug, token }: FoundToken): string => `${slug}-${token}`;

const wholeRun = (octets: Buffer): Run => ({ octets, cutBefore: false, cutAfter: false });

const joinRuns = (...runs: readonly Run[]): Run => ({
  octets: Buffer.concat(runs.map(({ octets }) => octets)),
  cutBefore: runs[0]?.cutBefore ?? false,
  cutAfter: runs.at(-1)?.cutAfter ?? false,
});

function splitRuns(head: Buffer, tail: Buffer, before: Run, after: Run): Run[] {
  return [
    joinRuns(before, { octets: head, cutBefore: false, cutAfter: true }),
    joinRuns({ octets: tail, cutBefore: true, cutAfter: false }, after),
  ];
}

function octetsBefore(parts: Iterable<PartOctets>): Run {
  let octets: Buffer = Buffer.alloc(0);
  for (const { head, tail } of parts) {
    octets = Buffer.concat([tail ?? head, octets]);
    if (tail !== null || octets.length > SPAN_OCTETS)
      return { octets: octets.subarray(-SPAN_OCTETS), cutBefore: true, cutAfter: false };
  }
  return wholeRun(octets);
}

function octetsAfter(parts: Iterable<PartOctets>): Run {
  let octets: Buffer = Buffer.alloc(0);
  for (const { head, tail } of parts) {
    octets = Buffer.concat([octets, head]);
    if (tail !== null || octets.length > SPAN_OCTETS)
      return { octets: octets.subarray(0, SPAN_OCTETS), cutBefore: false, cutAfter: true };
  }
  return wholeRun(octets);
}

function tokensOfRun({ octets, cutBefore, cutAfter }: Run, encoding: PartOctets['encoding']): FoundToken[] {
  if (octets.length === 0) return [];
  return readPieces(octets, encoding).flatMap((piece) =>
    findTokens((cutBefore || piece.cutBefore ? CUT : '') + piece.text + (cutAfter || piece.cutAfter ? CUT : '')),
  );
}

/**
 * The texts that a row of octets may be, whose first and last characters may be cut. UCS-2 is read from the first and from
 * the second octet, each only where a unit of a token may be.
 */
export function readPieces(
  octets: Buffer,
  encoding: PartOctets['encoding'],
  starts: readonly number[] = [0, 1],
): Piece[] {
  if (encoding === 'utf8') {
    const piece = decodeUtf8Piece(octets);
    return piece === null ? [] : [piece];
  }
  return starts
    .filter((start) => mayHoldToken(octets, start))
    .map((start) => {
      // Half a unit at the end is left out, as in the text of the part: a token before it counts there.
      return { text: decodeUcs2(octets.subarray(start)), cutBefore: start > 0, cutAfter: false };
    });
}

/** Whether a unit is ASCII or a wide form: every character of a token is one of them. */
function mayHoldToken(octets: Buffer, start: number): boolean {
  for (let at = start; at < octets.length; at += 2) {
    const high = octets[at];
    if (high === 0 || high === WIDE_FORMS) return true;
  }
  return false;
}

interface Piece {
  readonly text: string;
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
}
