import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderCsv } from './csv.js';
import type { JsonValue } from './json-body.js';

const cellOf = (value: JsonValue): string => renderCsv(['c'], [new Map([['c', value]])]).slice('c\r\n'.length, -2);

/** The records of a CSV text (RFC 4180). */
function recordsOf(csv: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, bare = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === '\r\n') records.push([]);
  }
  return records.slice(0, -1);
}

describe('a table in CSV', () => {
  it('has its columns first, and a line for each row', () => {
    const rows = [
      new Map<string, JsonValue>([
        ['b', 7],
        ['a', 'x'],
        ['more', 1],
      ]),
      new Map<string, JsonValue>([['a', null]]),
    ];
    expect(renderCsv(['a', 'b'], rows)).toBe('a,b\r\nx,7\r\n,\r\n');
    expect(renderCsv(['a', 'b'], [])).toBe('a,b\r\n');
  });

  it.each<[JsonValue, string]>([
    ['=1+1', "'=1+1"],
    ['=cmd|"/C calc"!A1', `"'=cmd|""/C calc""!A1"`],
    ['+SUM(A1)', "'+SUM(A1)"],
    ['+1+cmd|x', "'+1+cmd|x"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['\uff1d1+1', "'\uff1d1+1"],
    ['+14155552671', '+14155552671'],
    ['+141****2671', '+141****2671'],
    ['+', "'+"],
    ["'quoted", "'quoted"],
    ['a=b', 'a=b'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\r\nb', '"a\r\nb"'],
    [-7, '-7'],
    [true, 'true'],
    [null, ''],
    [['verify', 'otp'], '"[""verify"",""otp""]"'],
    [
      new Map<string, JsonValue>([
        ['2', '=x'],
        ['1', new Map([['__proto__', null]])],
      ]),
      '"{""2"":""=x"",""1"":{""__proto__"":null}}"',
    ],
  ])('renders %j as %s', (value, cell) => {
    expect(cellOf(value)).toBe(cell);
  });

  it('reads back as it was, apart from the apostrophe, and no cell begins a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (texts) => {
        const rows = texts.map((text) => new Map([['c', text]]));
        const cells = recordsOf(renderCsv(['c'], rows))
          .slice(1)
          .flat();
        expect(cells.map((cell, at) => (cell === texts[at] ? cell : cell.slice(1)))).toEqual(texts);
        for (const cell of cells) expect(cell).not.toMatch(/^(?:[=\-@\t\r\n]|\+(?![0-9][0-9*]*$))/);
      }),
    );
  });
});
