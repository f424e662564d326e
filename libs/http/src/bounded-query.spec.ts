import { describe, expect, it } from 'vitest';
import { boundedQuery } from './bounded-query.js';

describe('the query of a URL', () => {
  it('has its parameters decoded, and lists those that come more than once', () => {
    expect({ ...boundedQuery('phone=%2B14155552671&status=approved&status=denied&empty=&name') }).toEqual({
      phone: '+14155552671',
      status: ['approved', 'denied'],
      empty: '',
      name: '',
    });
  });

  it('is read up to 64 parameters', () => {
    const names = Array.from({ length: 3_000 }, (_, nth) => `n${nth}`);
    expect(Object.keys(boundedQuery(names.join('&')))).toEqual(names.slice(0, 64));
  });

  it('may be broken', () => {
    expect({ ...boundedQuery('%&=&a=%zz&%ff=1') }).toMatchObject({ a: '%zz' });
  });
});
