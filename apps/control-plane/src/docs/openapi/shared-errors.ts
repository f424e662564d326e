import type { OpenAPIObject } from '@nestjs/swagger';
import type { Operation } from './operations.js';

type Responses = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>;
type Response = Exclude<Responses[string], { $ref: string }>;

/**
 * Replaces the error responses of the calls by references, and returns the responses by name: most calls have the same
 * ones, and whole in each call they were nine tenths of the document. A response is named after its codes
 * (`ForbiddenOrHttpsRequired`). Throws when two that differ have the same codes.
 */
export function shareErrors(operations: readonly Operation[]): Responses {
  const shared: Responses = {};
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400 || response === undefined || '$ref' in response) continue;
      const name = nameOf(response);
      const known = (shared[name] ??= response);
      if (JSON.stringify(known) !== JSON.stringify(response)) throw new Error(`two different responses are ${name}`);
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

/** `errorAnswer` has an example for each code. */
const nameOf = ({ content }: Response): string =>
  Object.keys(content?.['application/json']?.examples ?? {})
    .map((code) =>
      code.replaceAll(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase()),
    )
    .join('Or');
