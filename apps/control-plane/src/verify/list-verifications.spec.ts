import { parseId } from '@countersign/ids';
import { SESSION_STATUSES } from '@countersign/session/rules';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RefusedRequest, type Refusal } from '../http/errors.js';
import { QueryPipe } from '../http/query.pipe.js';
import { ListVerifications } from './list-verifications.dto.js';

const pipe = new QueryPipe();

function read(query: unknown): ListVerifications | Refusal {
  try {
    const value = pipe.transform(query, { type: 'query', metatype: ListVerifications });
    if (!(value instanceof ListVerifications)) throw new Error('the query is of another class');
    return value;
  } catch (error) {
    if (error instanceof RefusedRequest) return error.refusal;
    throw error;
  }
}

describe('the query of GET /v1/verify', () => {
  it('may be empty', () => {
    expect(read({})).toEqual(Object.assign(new ListVerifications(), { limit: '20' }));
  });

  it('has only legal fields, or is refused with the name of an illegal one', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('pending', '+14155552671', '20', '100', '101', 'sess_01HF7YAT000000000000000001', ''),
      fc.integer().map(String),
      fc.double().map(String),
    );
    const names = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('status', 'phone', 'limit', 'startingAfter') },
      { weight: 1, arbitrary: fc.string() },
    );
    const value = fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.array(text) });
    const count = { legal: 0, refused: 0 };
    fc.assert(
      fc.property(fc.dictionary(names, value, { maxKeys: 3 }), (query) => {
        const outcome = read(query);
        if (!(outcome instanceof ListVerifications)) {
          count.refused += 1;
          expect(['VALIDATION_ERROR', 'INVALID_PHONE']).toContain(outcome.code);
          expect(Object.keys(query).some((name) => name.startsWith(outcome.field ?? '?'))).toBe(true);
          return;
        }
        count.legal += 1;
        const { status, phone, limit, startingAfter } = outcome;
        expect([undefined, ...SESSION_STATUSES]).toContain(status);
        expect(phone ?? '+14155552671').toMatch(/^[+ ][0-9]{2,15}$/);
        expect([...Array(101).keys()].slice(1)).toContain(Number(limit));
        if (startingAfter !== undefined) expect(parseId('sess', startingAfter)).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(count.legal, count.refused)).toBeGreaterThan(100);
  });
});
