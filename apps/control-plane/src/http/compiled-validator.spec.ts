import { IsInt, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { BodyConstraints, BodyPipe } from './body.pipe.js';
import { CompiledValidator, failsWith } from './compiled-validator.js';
import { RefusedRequest } from './errors.js';
import type { JsonValue } from './json-body.js';

class Parcel {
  @MaxLength(3, failsWith('too long'))
  @IsString(failsWith('not a string'))
  label!: string;

  @IsInt(failsWith('not a number', { code: 'INVALID_PHONE', within: (value) => (value === 'in' ? 'side' : undefined) }))
  weight: number = 5;
}

const validator = CompiledValidator.compile(Parcel);
const read = (...members: [string, JsonValue][]) => validator.read(new Map(members));

describe('a compiled validator', () => {
  it('returns the body as its class, with the defaults of its fields', () => {
    const result = read(['label', 'abc']);
    expect(result).toEqual({ ok: true, value: { label: 'abc', weight: 5 } });
    expect(result.ok && result.value).toBeInstanceOf(Parcel);
  });

  it('reports the first fault in declared order, whatever the order of the body', () => {
    expect(read(['weight', 'x'], ['extra', 1])).toEqual({
      ok: false,
      refusal: { code: 'VALIDATION_ERROR', field: 'label', message: 'not a string' },
    });
    expect(read(['extra', 1], ['weight', 'x'], ['label', 'abcd'])).toMatchObject({ refusal: { message: 'too long' } });
    expect(read(['extra', 1], ['weight', 'x'], ['label', 'abc'])).toMatchObject({
      refusal: { code: 'INVALID_PHONE', field: 'weight' },
    });
  });

  it('names the part inside a value when the decorator can', () => {
    expect(read(['label', ''], ['weight', 'in'])).toMatchObject({ refusal: { field: 'weight.side' } });
  });

  it('refuses null, also where there is a default', () => {
    expect(read(['label', ''], ['weight', null])).toMatchObject({ refusal: { field: 'weight' } });
  });

  it('refuses unknown fields last, and echoes at most the beginning of a name', () => {
    expect(read(['label', ''], ['__proto__', 1])).toMatchObject({
      refusal: { code: 'VALIDATION_ERROR', field: '__proto__' },
    });
    expect(read(['label', ''], ['x'.repeat(10_000), 1])).toMatchObject({ refusal: { field: 'x'.repeat(64) } });
  });

  it('stops the boot on unsupported decorators', () => {
    class Optional {
      @IsOptional()
      @ValidateNested()
      inner!: object;
    }
    class Silent {
      @IsString()
      label!: string;
    }
    class Empty {
      readonly nothing = 1;
    }
    expect(() => CompiledValidator.compile(Optional)).toThrow('Optional.inner');
    expect(() => CompiledValidator.compile(Silent)).toThrow('Silent.label');
    expect(() => CompiledValidator.compile(Empty)).toThrow('Empty');
  });
});

describe('the body pipe', () => {
  const pipe = new BodyPipe(new BodyConstraints([]));
  const transform = (body: JsonValue | undefined) => pipe.transform(body, { type: 'body', metatype: Parcel });

  it('refuses a missing body as malformed', () => {
    for (const body of [undefined, null, 'x', []]) {
      expect(() => transform(body)).toThrow(new RefusedRequest({ code: 'MALFORMED_REQUEST' }));
    }
  });

  it('returns the class of the parameter', () => {
    expect(transform(new Map([['label', 'a']]))).toBeInstanceOf(Parcel);
    expect(() => transform(new Map())).toThrow(RefusedRequest);
  });
});
