import { describe, expect, it } from 'vitest';
import { inRanges, parseRanges } from './address-ranges.js';

const trusted = parseRanges(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);

describe('address ranges', () => {
  it('contain single addresses, and IPv4-mapped IPv6 addresses', () => {
    expect(inRanges('192.0.2.7', trusted)).toBe(true);
    expect(inRanges('192.0.2.8', trusted)).toBe(false);
    expect(inRanges('::ffff:10.1.1.1', trusted)).toBe(true);
    expect(inRanges('fe80::1', trusted)).toBe(false);
    expect(inRanges('10.1', trusted)).toBe(true);
  });

  it('throw on text that is not a range', () => {
    expect(() => parseRanges(['ten/8'])).toThrow();
  });
});
