import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { CompiledValidator, echoedName } from './compiled-validator.js';
import { RefusedRequest } from './errors.js';
import type { JsonObject, JsonValue } from './json-body.js';

/**
 * From the query string to the class that the parameter names. Every field of such a class is text, and each name comes
 * once; what is numbers or times in truth, the class reads from its own fields.
 */
@Injectable()
export class QueryPipe implements PipeTransform {
  private readonly compiled = new Map<unknown, CompiledValidator<object>>();

  transform(query: unknown, { metatype }: ArgumentMetadata): object {
    const read = this.validatorOf(metatype).read(textsOf(query));
    if (!read.ok) throw new RefusedRequest(read.refusal);
    return read.value;
  }

  private validatorOf(metatype: ArgumentMetadata['metatype']): CompiledValidator<object> {
    const known = this.compiled.get(metatype);
    if (known !== undefined) return known;
    if (metatype === undefined) throw new Error('a query parameter has no class');
    const compiled = CompiledValidator.compile<object>(metatype);
    this.compiled.set(metatype, compiled);
    return compiled;
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
