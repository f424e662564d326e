import { findTokens, tokenEdges, type FoundToken } from '@countersign/session/tokens';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokensOfPart } from './part-tokens.js';

const TOKEN = '0123456789ABCDEF';
const FOUND = [{ slug: 'ACME', token: TOKEN }];

/** The tokens of a part with this text, next to other parts of which the edges are stored. */
function tokens(number: number, text: string, stored: Readonly<Record<number, string>>): FoundToken[] {
  const texts = Object.entries({ ...stored, [number]: text });
  const nearby = new Map(texts.map(([key, value]) => [Number(key), tokenEdges(value)]));
  return tokensOfPart(findTokens(text), number, nearby);
}

describe('tokens of a part', () => {
  it('finds a token inside the part, whatever else is stored', () => {
    expect(tokens(2, `hi AUTH-ACME-${TOKEN} `, {})).toEqual(FOUND);
    expect(tokens(2, `hi AUTH-ACME-${TOKEN} `, { 1: 'hello ', 3: 'bye' })).toEqual(FOUND);
  });

  it('finds a token across an edge, with whichever half arrives last', () => {
    expect(tokens(1, 'AUTH-ACME-01234', {})).toEqual([]);
    expect(tokens(2, '56789ABCDEF bye', { 1: 'AUTH-ACME-01234' })).toEqual(FOUND);
    expect(tokens(1, 'AUTH-ACME-01234', { 2: '56789ABCDEF bye' })).toEqual(FOUND);
  });

  it('finds a token cut into three, completed by its middle', () => {
    expect(tokens(2, 'ME-01234', { 1: 'hi AUTH-AC', 3: '56789ABCDEF' })).toEqual(FOUND);
  });

  it('does not read across a missing part', () => {
    expect(tokens(3, '56789ABCDEF', { 1: 'AUTH-ACME-01234' })).toEqual([]);
  });

  it('leaves out a token that lies in another part', () => {
    expect(tokens(2, ' and thanks', { 1: `AUTH-ACME-${TOKEN}` })).toEqual([]);
    expect(tokens(1, 'greetings ', { 2: `AUTH-ACME-${TOKEN}` })).toEqual([]);
  });

  it('gives a repeated part the same tokens again', () => {
    const stored = { 1: 'AUTH-ACME-01234', 2: '56789ABCDEF bye' };
    expect(tokens(2, '56789ABCDEF bye', stored)).toEqual(FOUND);
    expect(tokens(1, 'AUTH-ACME-01234', stored)).toEqual(FOUND);
  });

  it('reads across an empty part', () => {
    expect(tokens(2, '', { 1: 'AUTH-ACME-01234', 3: '56789ABCDEF' })).toEqual(FOUND);
  });

  it('finds a token exactly once over any cut and any order of arrival', () => {
    const text = `please verify me AUTH-ACME-${TOKEN} with many thanks`;
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(cuts, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (at, ranks) => {
        const edges = [0, ...at.sort((a, b) => a - b), text.length];
        const parts = edges.slice(1).map((end, i) => ({ number: i + 1, text: text.slice(edges[i], end) }));
        const rankOf = (number: number): number => ranks[number - 1] ?? 0;
        const order = parts.sort((a, b) => rankOf(a.number) - rankOf(b.number));
        const stored: Record<number, string> = {};
        const found: FoundToken[] = [];
        for (const part of order) {
          found.push(...tokens(part.number, part.text, stored));
          stored[part.number] = part.text;
        }
        expect(found).toEqual(FOUND);
      }),
    );
  });
});
