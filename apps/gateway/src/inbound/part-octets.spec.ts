import { deliverSm, type MessagePdu } from '@countersign/smpp/pdu';
import { tokenEdges, type FoundToken } from '@countersign/session/tokens';
import { encodeUcs2, type DefaultAlphabet } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePart, encodePart, partEdges, partOctets, type PartOctets } from './part-octets.js';
import { tokensOfPart } from './part-tokens.js';
import { readMessage } from './received-message.js';

const TOKEN = '0123456789ABCDEF';
const FOUND = [{ slug: 'ACME', token: TOKEN }];
const UCS2 = 8;

const partOf = (octets: Buffer, dataCoding: number, total: number, number: number): MessagePdu => {
  const header = Buffer.from([5, 0, 3, 77, total, number]);
  return { ...deliverSm({ esmClass: 0x40, dataCoding, shortMessage: Buffer.concat([header, octets]) }), sequence: 1 };
};

/** The tokens of each part, in order of arrival, as the gateway reads and stores them. */
function tokensOf(
  parts: readonly Buffer[],
  dataCoding: number,
  order: readonly number[] = parts.map((_, at) => at),
  alphabet: DefaultAlphabet = 'gsm',
): FoundToken[][] {
  const stored = new Map<number, string>();
  return order.map((at) => {
    const { text, tokens, octets } = readMessage(
      partOf(parts[at] ?? Buffer.alloc(0), dataCoding, parts.length, at + 1),
      alphabet,
    );
    stored.set(at + 1, encodePart({ edges: partEdges(text, octets), octets }));
    return tokensOfPart(tokens, at + 1, stored);
  });
}

function cutAt(octets: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at, octets.length];
  return edges.slice(1).map((end, nth) => octets.subarray(edges[nth], end));
}

describe('a long message whose characters are cut between its parts', () => {
  const text = `Привет! AUTH–ACME–${TOKEN} 🙂 спасибо`;

  it.each([
    ['UCS-2', encodeUcs2(text), UCS2],
    ['UTF-8', Buffer.from(text), 0],
    ['UTF-8 under Latin-1', Buffer.from(text), 3],
  ])('in %s has its token once, cut at any octet, in either order', (_, octets, dataCoding) => {
    for (let at = 1; at < octets.length; at += 1) {
      for (const order of [
        [0, 1],
        [1, 0],
      ]) {
        expect([at, tokensOf(cutAt(octets, [at]), dataCoding, order).flat()]).toEqual([at, FOUND]);
      }
    }
  });

  it.each([
    ['UCS-2', encodeUcs2(text), UCS2],
    ['UTF-8', Buffer.from(text), 0],
  ])('in %s has its token and no other, cut at any two octets, in any order', (_, octets, dataCoding) => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: octets.length - 1 }), { minLength: 2, maxLength: 2 });
    const orders = fc.shuffledSubarray([0, 1, 2], { minLength: 3 });
    fc.assert(
      fc.property(cuts, orders, (at, order) => {
        const parts = cutAt(
          octets,
          at.sort((a, b) => a - b),
        );
        // Twice where a part of one octet arrives between two halves: the second MO is a duplicate.
        const found = tokensOf(parts, dataCoding, order).flat();
        expect([...new Set(found.map(({ slug, token }) => `${slug}-${token}`))]).toEqual([`ACME-${TOKEN}`]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('in UCS-2 has its token behind parts of full length, all at odd octets', () => {
    const long = encodeUcs2(`${'Здравствуйте, '.repeat(9)}${text} ${'пожалуйста '.repeat(9)}`);
    const at = Array.from({ length: Math.floor(long.length / 133) }, (_, nth) => 133 * (nth + 1));
    const parts = cutAt(long, at);
    const orders = fc.shuffledSubarray(
      parts.map((_, nth) => nth),
      { minLength: parts.length },
    );
    fc.assert(
      fc.property(orders, (order) => {
        expect(tokensOf(parts, UCS2, order).flat()).toEqual(FOUND);
      }),
    );
  });

  it('has its token when a surrogate pair inside of it is cut', () => {
    const invisible = '\u{e0100}';
    const octets = encodeUcs2(`AUTH-ACME-${TOKEN.slice(0, 8)}${invisible}${TOKEN.slice(8)}`);
    const at = octets.indexOf(encodeUcs2(invisible)) + 2;
    expect(tokensOf(cutAt(octets, [at]), UCS2)).toEqual([[], FOUND]);
    expect(tokensOf(cutAt(octets, [at]), UCS2, [1, 0])).toEqual([[], FOUND]);
  });

  it('has its token when every octet is a part', () => {
    const octets = Buffer.from(` AUTH–ACME–${TOKEN} `);
    const parts = cutAt(
      octets,
      Array.from({ length: octets.length - 1 }, (_, at) => at + 1),
    );
    expect(tokensOf(parts, 0).flat()).toEqual(FOUND);
  });

  it('has no token that is glued to a letter which is cut', () => {
    for (const glued of [`éAUTH–ACME–${TOKEN}`, `AUTH–ACME–${TOKEN}é`, `жAUTH–ACME–${TOKEN}ж`]) {
      const octets = Buffer.from(`🙂 ${glued} 🙂`);
      const at = glued.startsWith('AUTH') ? octets.lastIndexOf('é') + 1 : octets.indexOf(Buffer.from(glued)) + 1;
      expect(tokensOf(cutAt(octets, [at]), 0).flat()).toEqual([]);
      expect(tokensOf(cutAt(octets, [at]), 0, [1, 0]).flat()).toEqual([]);
    }
  });
});

describe('the stored form of a part', () => {
  const encodings = fc.constantFrom<PartOctets['encoding']>('ucs2', 'utf8');
  const edges = fc.string({ unit: 'grapheme', maxLength: 400 }).map(tokenEdges);

  it('gives edges and octets back', () => {
    fc.assert(
      fc.property(edges, encodings, fc.uint8Array({ maxLength: 600 }), (text, encoding, octets) => {
        const part = { edges: text, octets: partOctets(encoding, Buffer.from(octets)) };
        expect(decodePart(encodePart(part))).toEqual(part);
        expect(encodePart(part).length).toBeLessThanOrEqual(640);
      }),
    );
  });

  it('is the edges where there are no octets', () => {
    fc.assert(
      fc.property(edges, (text) => {
        expect(encodePart({ edges: text, octets: null })).toBe(text);
        expect(decodePart(text)).toEqual({ edges: text, octets: null });
      }),
    );
  });

  it('begins and ends with the edges, as a release without octets reads it', () => {
    const stored = encodePart({ edges: 'AUTH-AC', octets: partOctets('ucs2', encodeUcs2('AUTH-AC')) });
    expect(stored).toMatch(/^AUTH-AC\u5207.*\u5207AUTH-AC$/s);
  });

  it('of any string is read', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('切', '|', 'u', 'b', 'w', 's', 'ÿ', '\0') }), (stored) => {
        expect(typeof decodePart(stored).edges).toBe('string');
      }),
    );
  });
});
