import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUsd, renderUsd } from './usd.js';

describe('an amount of money', () => {
  it.each(['0', '0.0079', '10', '0.10', '99999999.999999', '1.000000'])('may be %j', (text) => {
    expect(isUsd(text)).toBe(true);
  });

  it.each(['', '-1', '+1', '1.', '.5', '01', '1e3', '1,5', '100000000', '0.0000001', ' 1', '1\n', 'NaN', '٣', '0x1'])(
    'may not be %j',
    (text) => {
      expect(isUsd(text)).toBe(false);
    },
  );

  it.each([
    ['0.007900', '0.0079'],
    ['10.000000', '10.00'],
    ['0', '0.00'],
    ['1.5', '1.50'],
    ['100', '100.00'],
    ['1234567.123456', '1234567.123456'],
  ])('stored as %s is shown as %s', (stored, shown) => {
    expect(renderUsd(stored)).toBe(shown);
  });

  it('is shown without loss, in a valid input form', () => {
    fc.assert(
      fc.property(fc.nat(99_999_999), fc.nat(999_999), (dollars, millionths) => {
        const stored = `${dollars}.${String(millionths).padStart(6, '0')}`;
        const shown = renderUsd(stored);
        expect(isUsd(shown)).toBe(true);
        expect(renderUsd(shown)).toBe(shown);
        const [whole, decimals = ''] = shown.split('.');
        expect(`${whole}.${decimals.padEnd(6, '0')}`).toBe(stored);
      }),
    );
  });

  it('is never parsed from a text that is not a number', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9.eE+-]{0,12}$/));
    fc.assert(fc.property(texts, (text) => !isUsd(text) || (text.trim() === text && Number(text) >= 0)));
  });
});
