import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTokens, type FoundToken } from './find-tokens.js';
import { findStraddlingTokens, TOKEN_SPAN, tokenEdges } from './token-edges.js';

const spelled = (tokens: readonly FoundToken[]): string[] => tokens.map(({ slug, token }) => `${slug}-${token}`).sort();

/** The tokens found for each part in order of arrival, in its text and across its edges. */
function tokensOfParts(texts: readonly string[], order: readonly number[]): Set<string> {
  const stored = new Map<number, string>();
  const found = new Set<string>();
  for (const at of order) {
    const text = texts[at] ?? '';
    function* run(step: 1 | -1): Generator<string> {
      for (let next = at + step; ; next += step) {
        const edges = stored.get(next);
        if (edges === undefined) return;
        yield edges;
      }
    }
    const edges = tokenEdges(text);
    const tokens = [...findTokens(text), ...findStraddlingTokens(edges, run(-1), run(1))];
    for (const token of spelled(tokens)) found.add(token);
    stored.set(at, edges);
  }
  return found;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const characters = (alphabet: string, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...Array.from(alphabet)), { minLength, maxLength }).map((each) => each.join(''));
/** White space and invisible characters, many more than a phone inserts; one is a surrogate pair. */
const noise = (...pieces: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((each) => each.join(''));
const invisible = noise('\u200b', '\ufe0f', '\u{e0100}', '\u00ad');
const dash = fc
  .tuple(noise(' ', '\n', '\u00a0', '\u200b'), fc.constantFrom('-', '–', '—', '\u2011', '\uff0d'), noise(' ', '\u2060'))
  .map((each) => each.join(''));
const token = fc
  .tuple(characters('AB9', 2, 12), dash, dash, characters(CROCKFORD, 16, 16), invisible)
  .map(([slug, first, second, text, gap]) => `AUTH${first}${slug}${second}${text.slice(0, 7)}${gap}${text.slice(7)}`);
const filler = fc.oneof(
  fc.lorem({ maxCount: 30 }),
  fc.constantFrom('', ' ', '.', ' 🙂 ', ' ß ', ' AUTH-', '\u{e0101}'),
);
/** Up to three tokens, none next to a letter or digit. */
const message = fc
  .array(fc.tuple(filler, token, filler), { minLength: 1, maxLength: 3 })
  .map((each) => each.map((pieces) => pieces.join(' . ')).join(' . '));
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 });

function cutInto(text: string, at: readonly number[]): string[] {
  const edges = [0, ...at.map((share) => Math.round(share * text.length)).sort((a, b) => a - b), text.length];
  return edges.slice(1).map((end, nth) => text.slice(edges[nth], end));
}

describe('the edges of a part', () => {
  it('are short for every part', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), (text) => {
        expect(tokenEdges(text).length).toBeLessThanOrEqual(2 * TOKEN_SPAN + 3);
      }),
    );
  });

  it('are unchanged by a second call', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (text) => {
        expect(tokenEdges(tokenEdges(text))).toBe(tokenEdges(text));
      }),
    );
  });

  it('find every token of the whole text, and no other, in every order of arrival', () => {
    fc.assert(
      fc.property(message, cuts, fc.infiniteStream(fc.nat()), (text, at, ranks) => {
        const texts = cutInto(text, at);
        const order = texts
          .map((_, nth) => ({ nth, rank: Number(ranks.next().value) }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ nth }) => nth);
        expect([...tokensOfParts(texts, order)].sort()).toEqual([...new Set(spelled(findTokens(text)))].sort());
      }),
      { numRuns: 2_000 },
    );
  });

  it('find a token when every character is a separate part', () => {
    const text = ` AUTH-ACME-0123456789ABCDEF `;
    const texts = Array.from(text);
    const backwards = texts.map((_, nth) => texts.length - 1 - nth);
    expect([...tokensOfParts(texts, backwards)]).toEqual(['ACME-0123456789ABCDEF']);
  });

  it('find none whose last character is beyond the cut', () => {
    const filler = 'egestas vitae amet sit . ';
    const missing = 'AUTH-AAAAAAAAAAAA-000000000000000';
    for (let shift = 0; shift < 80; shift += 1) {
      const cut = `${filler.repeat(2)}${' .'.repeat(shift)} ${missing}`.slice(-TOKEN_SPAN);
      const texts = [`${filler}${filler}`, `${cut}0 ${filler.repeat(10)} ${missing}`, `1 ${filler}`];
      const whole = spelled(findTokens(texts.join('')));
      expect([...tokensOfParts(texts, [0, 1, 2])].filter((each) => !whole.includes(each))).toEqual([]);
      expect([...tokensOfParts(texts, [2, 1, 0])].filter((each) => !whole.includes(each))).toEqual([]);
    }
  });

  it('find none that is adjacent to a letter beyond the cut', () => {
    const long = 'x'.repeat(500);
    const glued = `AUTH-ACME-0123456789ABCDEF`;
    for (let shift = 0; shift < 80; shift += 1) {
      const first = `${long}${glued.slice(0, shift)}`;
      expect(findStraddlingTokens(tokenEdges(`${glued.slice(shift)} bye`), [tokenEdges(first)], [])).toEqual([]);
    }
  });
});
