import { describe, expect, it } from 'vitest';
import { Schemas, typesOf } from './schema.js';

const schemas = new Schemas({
  components: {
    schemas: {
      Inner: { type: 'object', properties: { code: { type: 'string', enum: ['A', 'B'] } }, required: ['code'] },
      Outer: {
        type: 'object',
        required: ['at', 'list'],
        properties: {
          at: { type: 'string', format: 'date-time' },
          list: { type: 'array', items: { $ref: '#/components/schemas/Inner' } },
          amount: { oneOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], example: 7 },
        },
      },
    },
  },
});
const OUTER = { $ref: '#/components/schemas/Outer' };

describe('a schema of the document', () => {
  it('is listed field by field, with full names for fields of nested objects', () => {
    expect(schemas.fields(OUTER).map(({ name, required }) => [name, required])).toEqual([
      ['at', true],
      ['list', true],
      ['list[].code', true],
      ['amount', false],
    ]);
  });

  it('has null among its types', () => {
    const [, , , amount] = schemas.fields(OUTER);
    expect(typesOf(amount?.schema ?? {})).toEqual(['integer', 'null']);
    expect(amount?.schema.minimum).toBe(1);
  });

  it('has an example: its own, or one composed of its parts', () => {
    expect(schemas.example(OUTER)).toEqual({ at: '2023-11-14T22:13:20.007Z', list: [{ code: 'A' }], amount: 7 });
  });

  it('merges the parts of a composition', () => {
    const both = { allOf: [{ $ref: '#/components/schemas/Inner' }, { properties: { more: { type: 'boolean' } } }] };
    expect(schemas.fields(both).map(({ name }) => name)).toEqual(['code', 'more']);
  });

  it('is empty when its reference has no target', () => {
    expect(schemas.fields({ $ref: '#/components/schemas/Gone' })).toEqual([]);
  });
});
