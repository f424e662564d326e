import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPhone, numberTypeOf, RESTRICTED_KINDS, restrictedKindOf } from './index.js';

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

  it.each(['', '+', 'x', '+12025550', '+999123456789'])('"%s" has none', (text) =>
    expect(numberTypeOf(text)).toBeNull(),
  );

  it('every routable number has one, and no other text has', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9][0-9]{5,14}$/)), (text) => {
        const check = checkPhone(text);
        if (check.ok) expect(numberTypeOf(text)).not.toBeNull();
        else if (check.reason === 'not_routable') expect(numberTypeOf(text)).toBeNull();
      }),
    );
  });
});

describe('restrictedKindOf', () => {
  it.each([
    ['+447911123456', null],
    ['+14155552671', null],
    ['+447012345678', 'personal_number'],
    ['+449098790879', 'premium_rate'],
    ['+491805123456', 'shared_cost'],
    ['+18002345678', 'toll_free'],
    ['+448001234567', 'toll_free'],
    ['+447640123456', 'pager'],
    ['+445512345678', 'uan'],
    ['+80012345678', 'non_geographic'],
    ['+80812345678', 'non_geographic'],
    ['+870773111632', 'non_geographic'],
    ['+878101234567890', 'non_geographic'],
    ['+8816123456789', 'non_geographic'],
    ['+88213123456', 'non_geographic'],
    ['+883510012345', 'non_geographic'],
    ['+88812345678', 'non_geographic'],
    ['+979123456789', 'non_geographic'],
  ])('%s: %s', (e164, kind) => expect(restrictedKindOf(e164)).toBe(kind));

  it('a number is restricted only by its code or its type', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9][0-9]{5,14}$/)), (text) => {
        const kind = restrictedKindOf(text);
        if (kind === null) expect(RESTRICTED_KINDS).not.toContain(numberTypeOf(text));
        else if (kind !== 'non_geographic') expect(numberTypeOf(text)).toBe(kind);
      }),
    );
  });
});
