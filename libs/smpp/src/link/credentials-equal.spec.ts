import fc from 'fast-check';
import { it } from 'vitest';
import { credentialsEqual } from './credentials-equal.js';

it('agrees with === for every pair of texts that fits a field of SMPP', () => {
  const field = fc.string({
    unit: fc.integer({ min: 1, max: 127 }).map((octet) => String.fromCharCode(octet)),
    maxLength: 15,
  });
  fc.assert(fc.property(field, field, (one, other) => credentialsEqual(one, other) === (one === other)));
  fc.assert(fc.property(field, (one) => credentialsEqual(one, one)));
});
