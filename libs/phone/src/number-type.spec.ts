import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPhone, numberTypeOf } from './index.js';

describe('numberTypeOf', () => {
  it.each([
    ['+447911123456', 'mobile'],
    ['+442071838750', 'fixed_line'],
    ['+14155552671', 'fixed_line_or_mobile'],
    ['+449098790879', 'premium_rate'],
    ['+19002345678', 'premium_rate'],
    ['+491805123456', 'shared_cost'],
    ['+18002345678', 'toll_free'],
    ['+447012345678', 'personal_number'],
    ['+80012345678', 'toll_free'],
  ])('%s is %s', (e164, type) => expect(numberTypeOf(e164)).toBe(type));

  it.each(['', '+', 'x', '+12025550', '+999123456789'])('"%s" is of none', (text) =>
    expect(numberTypeOf(text)).toBeNull(),
  );

  it('every routable number has one, and nothing else has', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9][0-9]{5,14}$/)), (text) => {
        const check = checkPhone(text);
        if (check.ok) expect(numberTypeOf(text)).not.toBeNull();
        else if (check.reason === 'not_routable') expect(numberTypeOf(text)).toBeNull();
      }),
    );
  });
});
