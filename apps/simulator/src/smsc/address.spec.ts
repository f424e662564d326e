import { describe, expect, it } from 'vitest';
import { parseAddress, renderAddress } from './address.js';

describe('the address of a simulated phone', () => {
  it.each([
    ['+14155552671', { ton: 1, npi: 1, value: '14155552671' }],
    ['72345', { ton: 3, npi: 0, value: '72345' }],
    ['4155552671', { ton: 0, npi: 1, value: '4155552671' }],
    ['MyBank', { ton: 5, npi: 0, value: 'MyBank' }],
  ])('%s goes out as a carrier would send it and comes back as it was', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(renderAddress(address)).toBe(text);
  });

  it.each(['', '+', '+1 415', 'TwelveLetters', 'naïve'])('"%s" is no address', (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});
