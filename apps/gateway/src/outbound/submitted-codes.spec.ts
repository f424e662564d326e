import { expect, it } from 'vitest';
import { SubmittedCodes } from './submitted-codes.js';

const [ONE, OTHER] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];

it('allows two attempts of a code, those under way included', () => {
  const codes = new SubmittedCodes();
  expect([codes.begin(ONE), codes.begin(ONE), codes.begin(ONE), codes.begin(OTHER)]).toEqual([true, true, false, true]);
});

it('allows another one for each that sent nothing', () => {
  const codes = new SubmittedCodes();
  for (let attempts = 0; attempts < 5; attempts += 1) {
    expect(codes.begin(ONE)).toBe(true);
    codes.takeBack(ONE);
  }
  expect([codes.begin(ONE), codes.begin(ONE), codes.begin(ONE)]).toEqual([true, true, false]);
});
