import 'reflect-metadata';
import { OmitType } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompiledValidator, failsWith } from '../../http/compiled-validator.js';
import type { JsonValue } from '../../http/json-body.js';
import {
  ChangeOf,
  isCountryOrEvery,
  isLine,
  isListOf,
  isWholeNumber,
  Nullable,
  Optional,
  Satisfies,
} from './fields.js';

class Draft {
  @Satisfies((value) => typeof value === 'string', 'ownerId must be a string.')
  ownerId!: string;

  @Satisfies(isLine(5), 'name must be a line.')
  name!: string;

  @Satisfies(isLine(5), 'note must be a line or null.')
  @Nullable()
  note?: string | null;

  @Satisfies(isListOf(isCountryOrEvery), 'countries must be a list.')
  @Optional()
  countries?: readonly string[];

  @IsBoolean(failsWith('active must be true or false.'))
  @Optional()
  active?: boolean;

  @IsIn(['a', 'b'], failsWith('kind must be a or b.'))
  kind: 'a' | 'b' = 'a';
}

class Change extends ChangeOf(OmitType(Draft, ['ownerId', 'kind'])) {}

const draft = CompiledValidator.compile(Draft);
const change = CompiledValidator.compile(Change);
const DRAFT: readonly (readonly [string, JsonValue])[] = [
  ['ownerId', 'o'],
  ['name', 'n'],
];

const offending = (validator: CompiledValidator<object>, fields: readonly (readonly [string, JsonValue])[]) => {
  const read = validator.read(new Map(fields));
  return read.ok ? null : read.refusal.field;
};

describe('the body of a create', () => {
  it('may omit optional fields', () => {
    expect(offending(draft, DRAFT)).toBeNull();
    expect(offending(draft, DRAFT.slice(1))).toBe('ownerId');
    expect(offending(draft, DRAFT.slice(0, 1))).toBe('name');
  });

  it('accepts null only for nullable fields', () => {
    expect(offending(draft, [...DRAFT, ['note', null]])).toBeNull();
    for (const field of ['countries', 'active', 'kind'])
      expect(offending(draft, [...DRAFT, [field, null]])).toBe(field);
  });
});

describe('the body of a change', () => {
  it('may omit everything, and then has no value for it', () => {
    const read = change.read(new Map([['note', null]]));
    expect(read.ok && Object.entries(read.value)).toEqual([['note', null]]);
  });

  it('is refused at boot when a default would change an omitted field', () => {
    expect(() => ChangeOf(Draft)).toThrow('every change would set kind');
  });

  it('is checked like the body of a create', () => {
    for (const [field, value] of [
      ['name', null],
      ['name', ''],
      ['note', ''],
      ['countries', null],
      ['active', null],
    ] as const) {
      expect(offending(change, [[field, value]])).toBe(field);
      expect(offending(draft, [...DRAFT.filter(([name]) => name !== field), [field, value]])).toBe(field);
    }
  });

  it('does not know fields that never change', () => {
    expect(offending(change, [['ownerId', 'o']])).toBe('ownerId');
  });
});

describe('a line', () => {
  it.each(['a', 'é€', '12345', '😀😀😀😀😀', ' a '])('may be %j', (text) => expect(isLine(5)(text)).toBe(true));

  it.each(['', ' ', '123456', '😀😀😀😀😀😀', 'a\nb', 'a\u2028b', 'a\u0000', 'a\ud800', 5, null, ['a']])(
    'may not be %j',
    (value) => expect(isLine(5)(value)).toBe(false),
  );

  it('is never a text that a terminal or a log would break into lines', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 8 }), (text) => {
        expect(!isLine(8)(text) || !/[\r\n\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)).toBe(true); // eslint-disable-line no-control-regex -- it is they that are looked for
      }),
    );
  });
});

describe('a whole number', () => {
  it.each([1, 2, 10])('may be %j', (value) => expect(isWholeNumber(1, 10)(value)).toBe(true));

  it.each([0, 11, 1.5, NaN, Infinity, '5', null, true, [5]])('may not be %j', (value) =>
    expect(isWholeNumber(1, 10)(value)).toBe(false),
  );
});

describe('a list', () => {
  it.each([[[]], [['*']], [['US', 'GB']]])('may be %j', (value) =>
    expect(isListOf(isCountryOrEvery)(value)).toBe(true),
  );

  it.each([[['US', 'US']], [['us']], [[null]], ['US'], [{}], [new Map()]])('may not be %j', (value) =>
    expect(isListOf(isCountryOrEvery)(value)).toBe(false),
  );
});
