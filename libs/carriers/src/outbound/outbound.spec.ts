import { describe, expect, it } from 'vitest';
import { destinationPrefix } from './outbound.js';

describe('the prefix of a destination number', () => {
  it('is all but its last four digits', () => {
    expect(destinationPrefix('+14155552671')).toBe('+1415555');
  });
});
