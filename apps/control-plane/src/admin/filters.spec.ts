import { parseId } from '@countersign/ids';
import type { Type } from '@nestjs/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RefusedRequest, type Refusal } from '../http/errors.js';
import { QueryPipe } from '../http/query.pipe.js';
import { AuditQuery } from './audit/audit.dto.js';
import { numberOf, uuidOf } from './crud/filters.js';
import { FATES, MessagesQuery } from './messages/message.dto.js';
import { SessionsQuery } from './sessions/session.dto.js';

const SESSION = 'sess_01HF7YAT000000000000000001';
const pipe = new QueryPipe();

type Read = { readonly ok: true; readonly query: object } | { readonly ok: false; readonly refusal: Refusal };

function read(query: object, metatype: Type): Read {
  try {
    return { ok: true, query: pipe.transform(query, { type: 'query', metatype }) };
  } catch (error) {
    if (error instanceof RefusedRequest) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** The legal values of each filter. */
const LEGAL: Readonly<Record<string, (value: string) => boolean>> = {
  limit: (value) => Number(value) >= 1 && Number(value) <= 100,
  startingAfter: () => true,
  format: (value) => ['json', 'csv'].includes(value),
  direction: (value) => ['in', 'out'].includes(value),
  sessionId: (value) => parseId('sess', value) !== null,
  id: (value) => parseId('sess', value) !== null,
  phone: (value) => /^\+[1-9][0-9]{1,14}$/.test(numberOf(value) ?? ''),
  fate: (value) => FATES.some((fate) => fate === value),
  resource: (value) => /^[a-z-]+$/.test(value),
  resourceId: (value) => /^[\w-]+$/.test(value),
};

describe.each<[string, Type, readonly string[]]>([
  ['messages', MessagesQuery, ['direction', 'sessionId', 'phone', 'fate']],
  ['sessions', SessionsQuery, ['phone', 'id']],
  ['the audit log', AuditQuery, ['resource', 'resourceId']],
])('the query of a list of %s', (_, metatype, filters) => {
  it('may be empty', () => {
    expect(read({}, metatype)).toMatchObject({ ok: true, query: { limit: '20' } });
  });

  it('is legal in every field, or refused with the faulty field', () => {
    const likely = [
      'in',
      'out',
      'matched',
      'failed',
      'csv',
      '+14155552671',
      ' 14155552671',
      SESSION,
      'binds',
      'a\0b',
      '',
    ];
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...likely));
    const name = fc.constantFrom(...filters, 'limit', 'startingAfter', 'format', 'text');
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 3 }), (query) => {
        const answer = read(query, metatype);
        const fine = Object.entries(query).every(([key, text]) => LEGAL[key]?.(text) ?? false);
        expect(answer.ok).toBe(fine);
        if (!answer.ok) expect(Object.keys(query)).toContain(answer.refusal.field);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a filter value', () => {
  it('gets back the plus sign that a query string lost', () => {
    expect([numberOf(' 14155552671'), numberOf('+14155552671'), numberOf(undefined)]).toEqual([
      '+14155552671',
      '+14155552671',
      undefined,
    ]);
  });

  it('is an id in the form of the tables, or undefined', () => {
    expect([uuidOf('sess', SESSION), uuidOf('sess', undefined)]).toEqual([parseId('sess', SESSION), undefined]);
  });
});
