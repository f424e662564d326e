import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namesTag } from './entity-tag.js';

const OURS = '"digest-br"';
const opaque = fc.array(fc.constantFrom('a', ',', '!', '#', '~', 'W/', '\xff')).map((parts) => `"${parts.join('')}"`);
const tags = fc.oneof(fc.constant(OURS), opaque);
const spaces = fc.constantFrom('', ' ', '\t', '  ');

describe('If-None-Match', () => {
  it.each([
    [OURS, true],
    [`W/${OURS}`, true],
    ['*', true],
    [' * ', true],
    [`"a,b", ${OURS}`, true],
    [`, ,${OURS},`, true],
    [undefined, false],
    ['', false],
    ['digest-br', false],
    ['"digest-gzip"', false],
    [`w/${OURS}`, false],
    [`${OURS} "b"`, false],
    [`${OURS}, b"`, false],
    [`"x${OURS}`, false],
    [`*, ${OURS}`, false],
  ])('%s names our tag: %s', (header, named) => {
    expect(namesTag(header, OURS)).toBe(named);
  });

  it('names a tag exactly when it is in the list, weak or strong', () => {
    const element = fc.tuple(spaces, fc.constantFrom('', 'W/'), tags, spaces);
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 6 }), (list) => {
        const header = list.map((parts) => parts.join('')).join(',');
        expect(namesTag(header, OURS)).toBe(list.some(([, , tag]) => tag === OURS));
      }),
    );
  });

  it('of any text is read to its end', () => {
    const part = fc.constantFrom('"', ',', ' ', 'W/', 'a', '*', OURS);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('')),
        ),
        (text) => {
          expect(typeof namesTag(text, OURS)).toBe('boolean');
        },
      ),
    );
    for (const text of [' '.repeat(16_000), ','.repeat(16_000), '" '.repeat(8_000), `"${'a'.repeat(16_000)}`]) {
      expect(namesTag(text, OURS)).toBe(false);
    }
  });
});
