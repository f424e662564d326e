import type { SmppAddress } from '@countersign/phone';
import { describe, expect, it } from 'vitest';
import type { InboundNumber } from './inbound-number.entity.js';
import {
  countriesOfFormer,
  possibleCountries,
  receivingCountry,
  servingNumber,
  shareNationalDigits,
} from './number-plan.js';

const number = (
  id: string,
  text: string,
  countries: readonly string[],
  brandId: string | null = null,
): InboundNumber => ({
  id,
  number: text,
  countries,
  brandId,
});

const US = number('1', '+14155550100', ['US', 'CA']);
const WORLD = number('2', '+447400123456', ['*']);
const SWISS_SHORT = number('3', '60606', ['CH']);
const WORLD_SHORT = number('4', '70707', ['*']);
const TWO_COUNTRY_SHORT = number('5', '80808', ['DE', 'AT']);

describe('servingNumber', () => {
  it('prefers a number that names the country to one for all, in any order', () => {
    expect(servingNumber([WORLD, US], 'US', null)).toBe('+14155550100');
    expect(servingNumber([US, WORLD], 'CA', null)).toBe('+14155550100');
    expect(servingNumber([US, WORLD], 'FR', null)).toBe('+447400123456');
    expect(servingNumber([SWISS_SHORT, WORLD], 'CH', null)).toBe('60606');
  });

  it('is null when none serves the country', () => {
    expect(servingNumber([US, SWISS_SHORT], 'FR', null)).toBeNull();
    expect(servingNumber([], 'US', null)).toBeNull();
  });

  it('serves phones without a country by a number for all', () => {
    expect(servingNumber([US, WORLD], '001', null)).toBe('+447400123456');
    expect(servingNumber([US], '001', null)).toBeNull();
  });

  it('prefers the oldest of equals', () => {
    const younger = number('9', '+14155550199', ['US']);
    expect(servingNumber([younger, US], 'US', null)).toBe('+14155550100');
  });

  it('reserves a number for its brand, and prefers it there', () => {
    const reserved = number('0', '+14155550111', ['US'], 'brand');
    expect(servingNumber([reserved, US], 'US', null)).toBe('+14155550100');
    expect(servingNumber([reserved, US], 'US', 'other')).toBe('+14155550100');
    expect(servingNumber([US, reserved], 'US', 'brand')).toBe('+14155550111');
    expect(servingNumber([reserved], 'US', 'other')).toBeNull();
  });
});

describe('receivingCountry', () => {
  const numbers = [US, WORLD, SWISS_SHORT, WORLD_SHORT, TWO_COUNTRY_SHORT];
  const to = (value: string, ton: number): SmppAddress => ({ ton, npi: 1, value });

  it.each<[what: string, destination: SmppAddress, country: string | null]>([
    ['a long number of ours has its own country', to('14155550100', 1), 'US'],
    ['a long number for all countries still has its own country', to('447400123456', 1), 'GB'],
    ['the same with a plus and no type', to('+447400123456', 0), 'GB'],
    ['the same without a type', to('447400123456', 0), 'GB'],
    ['the same in its national form', to('07400123456', 2), 'GB'],
    ['a short code has the one country it serves', to('60606', 3), 'CH'],
    ['a short code for all countries has none', to('70707', 3), null],
    ['a short code of two countries has none', to('80808', 3), null],
    ['an international number that is not ours has its own country', to('33612345678', 1), 'FR'],
    ['the same with a plus and no type, too', to('+33612345678', 0), 'FR'],
    ['digits of unknown type that are not ours have none', to('33612345678', 0), null],
    ['a national number that is not ours has none', to('0612345678', 2), null],
    ['digits of our number whose type says that they are of another plan have none', to('14155550100', 3), null],
    ['letters have none', to('COUNTERSIGN', 5), null],
    ['an empty address has none', to('', 0), null],
  ])('%s', (_, destination, country) => {
    expect(receivingCountry(numbers, destination)).toBe(country);
  });

  it('stays that of a deleted number, in each form of it, unless a number of ours is meant', () => {
    for (const destination of [to('4722000011', 0), to('4722000011', 1), to('22000011', 2), to('22000011', 0)]) {
      expect(receivingCountry(numbers, destination, ['+4722000011'])).toBe('NO');
    }
    expect(receivingCountry(numbers, to('22000012', 0), ['+4722000011'])).toBeNull();
    const singapore = number('6', '+6592345678', ['SG']);
    expect(receivingCountry([singapore], to('6592345678', 0), ['+16592345678'])).toBe('SG');
    expect(receivingCountry([], to('6592345678', 0), ['+16592345678', '+6592345678'])).toBeNull();
  });

  it('is never that of the row of a long number without a country of its own', () => {
    const invented = number('6', '+7786205000', ['IN']);
    const ours = number('7', '+447786205000', ['GB']);
    for (const ton of [0, 1, 2, 3]) expect(receivingCountry([invented], to('7786205000', ton))).toBeNull();
    for (const all of [
      [invented, ours],
      [ours, invented],
    ]) {
      expect(receivingCountry(all, to('7786205000', 2))).toBe('GB');
      expect(possibleCountries(all, to('0612345678', 2))).toEqual(['GB']);
      expect(possibleCountries(all, to('+7786205000', 0))).toEqual(['GB']);
    }
  });

  it('is not that of a number whose digits are the national form of another', () => {
    const singapore = number('6', '+6592345678', ['SG']);
    const american = number('7', '+16592345678', ['US']);
    for (const all of [
      [singapore, american],
      [american, singapore],
    ]) {
      expect(receivingCountry(all, to('6592345678', 1))).toBe('SG');
      expect(receivingCountry(all, to('6592345678', 2))).toBeNull();
      expect(receivingCountry(all, to('6592345678', 0))).toBeNull();
    }
  });
});

describe('possibleCountries', () => {
  const numbers = [US, WORLD, SWISS_SHORT, WORLD_SHORT, TWO_COUNTRY_SHORT];
  const all = ['US', 'GB', 'CH', 'DE', 'AT'];

  it.each<[what: string, value: string, countries: readonly string[]]>([
    ['of a short code of several countries are these', '80808', ['DE', 'AT']],
    ['of a short code for the world are those of all our numbers', '70707', all],
    ['of a destination that is not ours are those of all our numbers', '0612345678', all],
  ])('%s', (_, value, countries) => {
    expect(possibleCountries(numbers, { ton: 0, npi: 0, value })).toEqual(countries);
  });

  it('of former numbers stay, except for a short code that names its own', () => {
    const former = countriesOfFormer(['+4722000011', '+4722000012', '+14155550109', '+7786205000']);
    expect(former).toEqual(['NO', 'US']);
    for (const value of ['70707', '0612345678'])
      expect(possibleCountries(numbers, { ton: 0, npi: 0, value }, former)).toEqual([...all, 'NO']);
    expect(possibleCountries(numbers, { ton: 0, npi: 0, value: '80808' }, former)).toEqual(['DE', 'AT']);
    expect(possibleCountries([], { ton: 0, npi: 0, value: '0' }, former)).toEqual(['NO', 'US']);
  });

  it('are none without a number', () => {
    expect(possibleCountries([], { ton: 0, npi: 0, value: '70707' })).toEqual([]);
  });
});

describe('shareNationalDigits', () => {
  it.each([
    ['equal national numbers', '+447786205001', '+917786205001', true],
    ['a trunk prefix of one that the other has as a digit', '+441223456789', '+3901223456789', true],
    ['the same number', '+447786205001', '+447786205001', false],
    ['two numbers of one country', '+447786205001', '+447786205002', false],
    ['another last digit', '+447786205001', '+917786205002', false],
    ['a number of no numbering plan', '+447786205001', '+7786205001', false],
    ['a short code', '60606', '+447786260606', false],
  ])('%s', (_, one, other, shared) => {
    expect([shareNationalDigits(one, other), shareNationalDigits(other, one)]).toEqual([shared, shared]);
  });
});
