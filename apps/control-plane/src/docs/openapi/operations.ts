import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

type Described = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** One call of the document. */
export interface Operation {
  readonly method: Uppercase<(typeof METHODS)[number]>;
  /** As documented, with `{name}` for a parameter. */
  readonly path: string;
  readonly operation: Described;
}

/** Every call of a document, in document order. */
export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method: upper(method), path, operation }];
    }),
  );
}

const upper = <Text extends string>(text: Text): Uppercase<Text> => text.toUpperCase() as Uppercase<Text>;

/** The inline parameters of a call, without references. */
export function parametersOf(
  operation: Described,
): Exclude<NonNullable<Described['parameters']>[number], { $ref: string }>[] {
  return (operation.parameters ?? []).flatMap((parameter) => ('$ref' in parameter ? [] : [parameter]));
}
