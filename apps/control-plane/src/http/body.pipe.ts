import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import type { ValidatorConstraintInterface } from 'class-validator';
import { CompiledValidators, echoedName } from './compiled-validator.js';
import { RefusedRequest, valueOf } from './errors.js';
import type { JsonObject, JsonValue } from './json-body.js';

/** The constraints of a room's bodies that need more than a value to decide. A class, so that Nest can inject it. */
export class BodyConstraints {
  constructor(readonly all: readonly ValidatorConstraintInterface[]) {}
}

/** From the JSON of a body to the class that the parameter names. Without a body it is refused like a broken one. */
@Injectable()
export class BodyPipe implements PipeTransform {
  private readonly validators: CompiledValidators;

  constructor(constraints: BodyConstraints) {
    this.validators = new CompiledValidators(constraints.all);
  }

  transform(body: JsonValue | undefined, { metatype }: ArgumentMetadata): object {
    if (!(body instanceof Map)) throw new RefusedRequest({ code: 'MALFORMED_REQUEST' });
    return valueOf(this.validators.of(metatype).read(body));
  }
}

/** The same for a body that may be left out: nothing and `{}` are the same. */
@Injectable()
export class OptionalBodyPipe extends BodyPipe {
  override transform(body: JsonValue | undefined, metadata: ArgumentMetadata): object {
    return super.transform(body ?? new Map(), metadata);
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
