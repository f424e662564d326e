import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { CompiledValidators, echoedName } from './compiled-validator.js';
import { RefusedRequest, valueOf } from './errors.js';
import type { JsonObject, JsonValue } from './json-body.js';

/**
 * Converts the query string to the class that the parameter names. Every field of such a class is text, and each name
 * may occur once; the class converts numbers and times from its own fields.
 */
@Injectable()
export class QueryPipe implements PipeTransform {
  private readonly validators = new CompiledValidators();

  transform(query: unknown, { metatype }: ArgumentMetadata): object {
    return valueOf(this.validators.of(metatype).read(textsOf(query)));
  }
}

function textsOf(query: unknown): JsonObject {
  const texts = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (typeof value !== 'string') {
      const message = 'This parameter may be given once.';
      throw new RefusedRequest({ code: 'VALIDATION_ERROR', message, field: echoedName(name) });
    }
    texts.set(name, value);
  }
  return texts;
}
