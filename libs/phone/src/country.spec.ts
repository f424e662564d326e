import { describe, expect, it } from 'vitest';
import { isCountry } from './country.js';

describe('a country', () => {
  it.each(['US', 'GB', 'DE', 'CH', 'NA'])('may be %s', (code) => expect(isCountry(code)).toBe(true));

  it.each(['UK', 'us', 'USA', '', '*', '001', 'XX', 'toString', '__proto__'])('may not be %j', (code) =>
    expect(isCountry(code)).toBe(false),
  );
});
