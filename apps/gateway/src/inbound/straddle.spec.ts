import type { FoundToken } from '@countersign/session';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokensOfPart } from './straddle.js';

// A stand-in with the shape of the real rule, so that this test is about parts and not about spelling.
const findTokens = (text: string): FoundToken[] =>
  [...text.matchAll(/(?<![A-Z0-9])AUTH-([A-Z0-9]{2,12})-([0-9A-Z]{16})(?![A-Z0-9])/g)]
    .slice(0, 3)
    .map(([, slug = '', token = '']) => ({ slug, token }));

const TOKEN = '0123456789ABCDEF';
const FOUND = [{ slug: 'ACME', token: TOKEN }];

const tokens = (number: number, text: string, stored: Record<number, string>): FoundToken[] =>
  tokensOfPart(
    { number, text },
    new Map(Object.entries(stored).map(([key, value]) => [Number(key), value])),
    findTokens,
  );

describe('tokens of a part', () => {
  it('finds a token inside the part, whatever else is stored', () => {
    expect(tokens(2, `hi AUTH-ACME-${TOKEN} `, {})).toEqual(FOUND);
    expect(tokens(2, `hi AUTH-ACME-${TOKEN} `, { 1: 'hello ', 3: 'bye' })).toEqual(FOUND);
  });

  it('finds a token that runs over the edge, with whichever half comes last', () => {
    expect(tokens(1, 'AUTH-ACME-01234', {})).toEqual([]);
    expect(tokens(2, '56789ABCDEF bye', { 1: 'AUTH-ACME-01234' })).toEqual(FOUND);
    expect(tokens(1, 'AUTH-ACME-01234', { 2: '56789ABCDEF bye' })).toEqual(FOUND);
  });

  it('finds a token cut into three, completed by its middle', () => {
    expect(tokens(2, 'ME-01234', { 1: 'hi AUTH-AC', 3: '56789ABCDEF' })).toEqual(FOUND);
  });

  it('does not read across a part that is not there yet', () => {
    expect(tokens(3, '56789ABCDEF', { 1: 'AUTH-ACME-01234' })).toEqual([]);
  });

  it('leaves a token to the part that was answered for it', () => {
    expect(tokens(2, ' and thanks', { 1: `AUTH-ACME-${TOKEN}` })).toEqual([]);
    expect(tokens(1, 'greetings ', { 2: `AUTH-ACME-${TOKEN}` })).toEqual([]);
  });

  it('gives a repeated part the same tokens again', () => {
    const stored = { 1: 'AUTH-ACME-01234', 2: '56789ABCDEF bye' };
    expect(tokens(2, '56789ABCDEF bye', stored)).toEqual(FOUND);
    expect(tokens(1, 'AUTH-ACME-01234', stored)).toEqual(FOUND);
  });

  it('reads an empty part as nothing between its neighbours', () => {
    expect(tokens(2, '', { 1: 'AUTH-ACME-01234', 3: '56789ABCDEF' })).toEqual(FOUND);
  });

  it('finds a token exactly once over any cut and any order of arrival', () => {
    const text = `please verify me AUTH-ACME-${TOKEN} with many thanks`;
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(cuts, fc.infiniteStream(fc.nat(1000)), (at, chance) => {
        const edges = [0, ...at.sort((a, b) => a - b), text.length];
        const parts = edges.slice(1).map((end, i) => ({ number: i + 1, text: text.slice(edges[i], end) }));
        const order = parts.map((part) => ({ part, by: chance.next().value })).sort((a, b) => a.by - b.by);
        const stored = new Map<number, string>();
        const found: FoundToken[] = [];
        for (const { part } of order) {
          found.push(...tokensOfPart(part, stored, findTokens));
          stored.set(part.number, part.text);
        }
        // A cut right after the last character makes the token whole before its neighbour is known.
        expect(found.slice(0, 1)).toEqual(FOUND);
        expect(new Set(found.map((each) => each.token)).size).toBe(1);
      }),
    );
  });
});
