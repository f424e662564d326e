import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import type { ValidatorConstraintInterface } from 'class-validator';
import { CompiledValidators, echoedName } from './compiled-validator.js';
import { RefusedRequest, valueOf } from './errors.js';
import type { JsonObject, JsonValue } from './json-body.js';

/** Constraints of a module's request bodies that need injected state. A class, so that Nest can inject it. */
export class BodyConstraints {
  constructor(readonly all: readonly ValidatorConstraintInterface[]) {}
}

/** Converts a JSON body to the class that the parameter names. A missing body is refused as malformed. */
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

/** For calls with an optional body: no body and `{}` are equivalent. */
@Injectable()
export class OptionalBodyPipe extends BodyPipe {
  override transform(body: JsonValue | undefined, metadata: ArgumentMetadata): object {
    return super.transform(body ?? new Map(), metadata);
  }
}

/** For calls without a body: no body and `{}` are equivalent; any field is refused. */
@Injectable()
export class NoBodyPipe implements PipeTransform {
  transform(body: JsonValue | undefined): null {
    const [field] = body instanceof Map ? (body as JsonObject).keys() : [];
    if (field === undefined) return null;
    throw new RefusedRequest({ code: 'VALIDATION_ERROR', message: 'This call has no body.', field: echoedName(field) });
  }
}
