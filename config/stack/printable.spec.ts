import { describe, expect, it } from 'vitest';
import { printable } from './printable.mjs';

describe('a text for a terminal', () => {
  it.each([
    ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['a\rb', 'a\\u000db'],
    ['\u009b2J and \u009d52;c;', '\\u009b2J and \\u009d52;c;'],
    ['\u202egnp.exe\u2066', '\\u202egnp.exe\\u2066'],
    ['a\u2028b\u0085c\u007f', 'a\\u2028b\\u0085c\\u007f'],
    ['two\nlines\tand Größe, 電話, 😀', 'two\nlines\tand Größe, 電話, 😀'],
  ])('%j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('is the same text for a reader of JSON', () => {
    const value = { name: '\u001b[31m\u009b\u202e' };
    expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
  });
});
