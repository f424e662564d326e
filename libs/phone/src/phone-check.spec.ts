import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPhone, countryOf } from './index.js';

describe('checkPhone', () => {
  it.each([
    ['+14155552671', 'US'],
    ['+14165550123', 'CA'],
    ['+447911123456', 'GG'],
    ['+393331234567', 'IT'],
    ['+390612345678', 'IT'],
    ['+77012345678', 'KZ'],
    ['+5491123456789', 'AR'],
    ['+80012345678', '001'],
  ])('%s is a routable number of %s', (text, country) => {
    expect(checkPhone(text)).toEqual({ ok: true, e164: text, country });
    expect(countryOf(text)).toBe(country);
  });

  it.each([
    '',
    '+',
    '14155552671',
    '0014155552671',
    '+1 415 555 2671',
    ' +14155552671',
    '+14155552671\n',
    '+1415555267a',
    '+04155552671',
    '+1234567890123456',
    'tel:+14155552671',
    '+١٤١٥٥٥٥٢٦٧١',
    '+14155552671;ext=1',
  ])('"%s" is not E.164', (text) => {
    expect(checkPhone(text)).toEqual({ ok: false, reason: 'not_e164' });
    expect(countryOf(text)).toBeNull();
  });

  it('rejects a number that contains its trunk prefix: its canonical text is different', () => {
    expect(checkPhone('+4407911123456')).toEqual({ ok: false, reason: 'not_e164' });
  });

  it.each(['+12', '+15550100', '+14155550', '+12025550', '+999123456789', '+447911'])('%s is not routable', (text) =>
    expect(checkPhone(text)).toEqual({ ok: false, reason: 'not_routable' }),
  );

  it('never throws, and returns the accepted text unchanged', () => {
    const numberLike = fc.stringMatching(/^\+?[0-9]{0,17}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), numberLike), (text) => {
        const check = checkPhone(text);
        if (check.ok) expect(check.e164).toBe(text);
      }),
    );
  });
});
