import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import type { ValidatorConstraintInterface } from 'class-validator';
import { CompiledValidator, echoedName } from './compiled-validator.js';
import { RefusedRequest } from './errors.js';
import type { JsonObject, JsonValue } from './json-body.js';

/** The constraints of a room's bodies that need more than a value to decide. A class, so that Nest can inject it. */
export class BodyConstraints {
  constructor(readonly all: readonly ValidatorConstraintInterface[]) {}
}

/** From the JSON of a body to the class that the parameter names. Without a body it is refused like a broken one. */
@Injectable()
export class BodyPipe implements PipeTransform {
  private readonly compiled = new Map<unknown, CompiledValidator<object>>();

  constructor(private readonly constraints: BodyConstraints) {}

  transform(body: JsonValue | undefined, { metatype }: ArgumentMetadata): object {
    if (!(body instanceof Map)) throw new RefusedRequest({ code: 'MALFORMED_REQUEST' });
    const read = this.validatorOf(metatype).read(body);
    if (!read.ok) throw new RefusedRequest(read.refusal);
    return read.value;
  }

  private validatorOf(metatype: ArgumentMetadata['metatype']): CompiledValidator<object> {
    const known = this.compiled.get(metatype);
    if (known !== undefined) return known;
    if (metatype === undefined) throw new Error('a body parameter has no class');
    const compiled = CompiledValidator.compile<object>(metatype, this.constraints.all);
    this.compiled.set(metatype, compiled);
    return compiled;
  }
}

/** For calls without a body: nothing and `{}` are the same, and any field is one too many. */
@Injectable()
export class NoBodyPipe implements PipeTransform {
  transform(body: JsonValue | undefined): null {
    const [field] = body instanceof Map ? (body as JsonObject).keys() : [];
    if (field === undefined) return null;
    throw new RefusedRequest({ code: 'VALIDATION_ERROR', message: 'This call has no body.', field: echoedName(field) });
  }
}
