import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIdAt, idBounds, idOf, idTimeMs, isUuid, lastIdAt, newId, parseId, renderId } from './id.js';

const ms = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const id = fc.tuple(ms, random).map(([time, bytes]) => idOf(time, bytes));

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The plain definition with one big number, to verify the fast implementation. */
const slowRender = (uuid: string): string => {
  let number = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let count = 0; count < 26; count++) {
    text = CROCKFORD.charAt(Number(number & 31n)) + text;
    number >>= 5n;
  }
  return text;
};

describe('an id', () => {
  it('is 48 bits of time, then 80 random bits', () => {
    expect(idOf(0x0123456789ab, Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 255))).toBe(
      '01234567-89ab-0001-0203-0405060708ff',
    );
  });

  it('contains its time', () => {
    fc.assert(fc.property(ms, random, (time, bytes) => idTimeMs(idOf(time, bytes)) === time));
  });

  it('sorts by time, as text and as rendered', () => {
    fc.assert(
      fc.property(id, id, (one, other) => {
        fc.pre(idTimeMs(one) < idTimeMs(other));
        expect(one < other).toBe(true);
        expect(renderId('sess', one) < renderId('sess', other)).toBe(true);
      }),
    );
  });

  it('is between the first id of its millisecond and that of the next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 2 }), random, (time, bytes) => {
        const made = idOf(time, bytes);
        expect(firstIdAt(time) <= made && made <= lastIdAt(time) && lastIdAt(time) < firstIdAt(time + 1)).toBe(true);
      }),
    );
  });

  it('is unique within one millisecond', () => {
    const made = Array.from({ length: 5_000 }, () => newId(1_700_000_000_000));
    expect(new Set(made).size).toBe(5_000);
    expect(new Set(made.map(idTimeMs))).toEqual(new Set([1_700_000_000_000]));
  });

  it('is rejected for a time that does not fit', () => {
    for (const time of [-1, 0.5, 2 ** 48, Number.NaN]) expect(() => newId(time)).toThrow(RangeError);
    expect(() => idOf(0, new Uint8Array(9))).toThrow(RangeError);
  });
});

describe('the form of an id', () => {
  it('is recognised for every id, and for no other value', () => {
    fc.assert(fc.property(id, (uuid) => isUuid(uuid)));
    const good = 'abcdef01-2345-6789-abcd-ef0123456789';
    const wrong = [
      good.toUpperCase(),
      good.replaceAll('-', ''),
      `${good}0`,
      `${good}\n`,
      good.slice(1),
      good.replace('a', 'g'),
      [good],
      null,
      undefined,
    ];
    expect(isUuid(good)).toBe(true);
    expect(wrong.filter(isUuid)).toEqual([]);
  });
});

describe('a rendered id', () => {
  it('is the prefix and the 128-bit number in Crockford base32', () => {
    fc.assert(fc.property(id, (uuid) => renderId('sess', uuid) === `sess_${slowRender(uuid)}`));
    expect(renderId('evt', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(`evt_7${'Z'.repeat(25)}`);
  });

  it('is parsed to the id', () => {
    fc.assert(fc.property(id, (uuid) => parseId('sess', renderId('sess', uuid)) === uuid));
  });

  it('is parsed only in the exact form that is rendered', () => {
    const good = renderId('sess', newId(1_700_000_000_000));
    const wrong = [
      good.toLowerCase(),
      `${good}0`,
      good.slice(0, -1),
      good.replace('sess', 'acct'),
      good.replace('_', '-'),
      ` ${good}`,
      `sess_8${good.slice(6)}`,
      `${good.slice(0, -1)}U`,
      `${good.slice(0, -1)}é`,
      'sess_',
      '',
    ];
    expect(wrong.map((text) => parseId('sess', text))).toEqual(wrong.map(() => null));
  });

  it('is null for any other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ minLength: 26, maxLength: 26 }).map((text) => `sess_${text}`),
        ),
        (text) => {
          const uuid = parseId('sess', text);
          expect(uuid === null || renderId('sess', uuid) === text).toBe(true);
        },
      ),
    );
  });
});

describe('the bounds of ids', () => {
  it('are the lowest and the highest', () => {
    fc.assert(
      fc.property(fc.array(id, { minLength: 1 }), (ids) => {
        const sorted = [...ids].sort();
        expect(idBounds(ids)).toEqual({ low: sorted[0], high: sorted.at(-1) });
      }),
    );
  });

  it('are rejected for an empty list', () => {
    expect(() => idBounds([])).toThrow(RangeError);
  });
});
