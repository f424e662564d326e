import { describe, expect, it } from 'vitest';
import { isSamePhone } from './recipient-forms.js';

describe('a rewritten recipient', () => {
  it.each(['+14155552671', '14155552671', '0014155552671', '01114155552671', '4155552671', '04155552671'])(
    'is the same phone as %s',
    (address) => expect(isSamePhone('+14155552671', address)).toBe(true),
  );

  it.each(['+14155552672', '5552671', '+444155552671', '1234', '', '+1+14155552671'])(
    'is another one as %s',
    (address) => expect(isSamePhone('+14155552671', address)).toBe(false),
  );
});
