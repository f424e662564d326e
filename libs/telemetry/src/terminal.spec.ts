import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terminalText } from './index.js';

describe('a text for a terminal', () => {
  it.each([
    ['\u001b]0;title\u0007', '\\u{1b}]0;title\\u{7}'],
    ['\u009b2J', '\\u{9b}2J'],
    ['a\rb\tc\bd\u007f', 'a\\u{d}b\\u{9}c\\u{8}d\\u{7f}'],
    ['left\u202eright\u2066', 'left\\u{202e}right\\u{2066}'],
    ['\ud800 \u2028', '\\u{d800} \\u{2028}'],
    ['first line\nsecond line', 'first line\nsecond line'],
    ['Zürich – 東京 😀', 'Zürich – 東京 😀'],
  ])('%j is shown as %j', (text, shown) => expect(terminalText(text)).toBe(shown));

  it('has no control character but the line feed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(terminalText(text)).not.toMatch(/[^\P{C}\n\p{Cn}\p{Co}]/u);
      }),
    );
  });
});
