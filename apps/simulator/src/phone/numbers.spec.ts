import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNumber, parseNumber, spokenNumber } from './page/numbers.mjs';

const e164 = fc.stringMatching(/^\+[1-9][0-9]{6,14}$/);

describe('a typed number', () => {
  it.each(['+14155552671', '+1 (415) 555-2671', '001 415.555.2671', ' +1\u00a0415\u2011555\u20112671 '])(
    'is E.164, however it is separated: %s',
    (typed) => expect(parseNumber(typed)).toBe('+14155552671'),
  );

  it.each(['', '415 555 2671', '+0123456789', '+1415', '+1415555267a', '+1415555267112345'])(
    'is refused without its country or with a wrong length: %j',
    (typed) => expect(parseNumber(typed)).toBeNull(),
  );
});

describe('a number on the screen', () => {
  it.each([
    ['+14155552671', '+1 415 555 2671'],
    ['+442079460123', '+44 207 946 0123'],
    ['+4915112345678', '+49 151 123 456 78'],
    ['+35312345678', '+353 123 456 78'],
    ['+79161234567', '+7 916 123 4567'],
    ['24365', '24365'],
    ['Acme', 'Acme'],
  ])('%s is shown as %s', (number, shown) => expect(formatNumber(number)).toBe(shown));

  it('is read again as the same number', () => {
    fc.assert(fc.property(e164, (number) => parseNumber(formatNumber(number)) === number));
  });

  it('is spoken digit by digit', () => {
    expect(spokenNumber('+1415')).toBe('+1415');
    expect(spokenNumber('+14155552671')).toBe('+ 1 4 1 5 5 5 5 2 6 7 1');
  });
});
