import { describe, expect, it } from 'vitest';
import { identifiesPhone } from './recipient-forms.js';

const PHONE = '+6592345678';
const at = (value: string, ton: number, npi = 1) => ({ ton, npi, value });

describe('a recipient address', () => {
  it.each([
    at('6592345678', 1),
    at('6592345678', 1, 0),
    at('+6592345678', 1),
    at('+6592345678', 0),
    at('006592345678', 0),
    at('0116592345678', 1),
  ])('names one phone: %j', (address) => expect(identifiesPhone(PHONE, address)).toBe(true));

  it.each([
    ['its national digits', at('92345678', 1)],
    ['its national digits', at('92345678', 2)],
    ['its national digits', at('092345678', 0)],
    ['a national number', at('6592345678', 2)],
    ['a national number with a plus', at('+6592345678', 2)],
    ['digits that are also a number of Alabama', at('6592345678', 0)],
    ['a number of a network', at('6592345678', 3)],
    ['letters', at('6592345678', 5)],
    ['the plan of subscribers (E.212)', at('6592345678', 1, 6)],
    ['another number', at('6592345679', 1)],
    ['another number', at('+16592345678', 1)],
    ['nothing', at('', 1)],
  ])('may be another one as %s: %j', (_, address) => expect(identifiesPhone(PHONE, address)).toBe(false));
});
