import type { OpenAPIObject } from '@nestjs/swagger';

type Written = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
/** An inline schema. */
export type Schema = Exclude<Written, { $ref: string }>;

type WrittenResponse = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>[string];
type Response = Exclude<WrittenResponse, { $ref: string }>;

/** One field of a body, as a row of a table. */
export interface Field {
  /** With the names of the enclosing objects: `error.code`, `data[].id`. */
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** Fields of deeper objects are not listed. */
const MAX_DEPTH = 4;

/** The schemas of one document: resolves references and merges compositions. */
export class Schemas {
  constructor(private readonly document: Pick<OpenAPIObject, 'components'>) {}

  /** The schema behind a reference; a composition is merged, of alternatives the first that is not null is taken. */
  resolve(written: Written): Schema {
    if ('$ref' in written) {
      const target = this.document.components?.schemas?.[written.$ref.replace('#/components/schemas/', '')];
      return target === undefined ? {} : this.resolve(target);
    }
    if (written.allOf !== undefined) return merged([written, ...written.allOf.map((part) => this.resolve(part))]);
    const [alternative] = (written.oneOf ?? written.anyOf ?? []).filter((each) => !isNull(each));
    return alternative === undefined ? written : merged([this.resolve(alternative), written]);
  }

  /** The response behind a reference; undefined without one. */
  response(written: WrittenResponse | undefined): Response | undefined {
    if (written === undefined || !('$ref' in written)) return written;
    return this.response(this.document.components?.responses?.[written.$ref.replace('#/components/responses/', '')]);
  }

  /** The fields of an object in order, each followed by the fields of its object. */
  fields(written: Written, around = '', depth = 0): Field[] {
    const { properties = {}, required = [] } = this.resolve(written);
    return Object.entries(properties).flatMap(([name, inner]) => {
      const schema = this.resolve(inner);
      const field = { name: around + name, required: required.includes(name), schema: { ...inner, ...schema } };
      return [field, ...(depth < MAX_DEPTH ? this.fieldsWithin(field, depth) : [])];
    });
  }

  private fieldsWithin({ name, schema }: Field, depth: number): Field[] {
    const within = schema.items === undefined ? schema : this.resolve(schema.items);
    if (within.properties === undefined) return [];
    return this.fields(within, `${name}${schema.items === undefined ? '.' : '[].'}`, depth + 1);
  }

  /** An example: the schema's own, else one composed of its parts; with `whole`, optional parts too. */
  example(written: Written, options: { readonly whole: boolean } = { whole: true }, depth = 0): unknown {
    const schema = this.resolve(written);
    const own = this.ownExample(schema);
    if (own !== undefined) return own;
    if (schema.items !== undefined) return depth < MAX_DEPTH ? [this.example(schema.items, options, depth + 1)] : [];
    const { properties, required = [] } = schema;
    if (properties === undefined) return schema.type === 'object' ? {} : PLAIN[typesOf(schema)[0] ?? ''];
    const shown = Object.entries(properties).filter(([name]) => options.whole || required.includes(name));
    return Object.fromEntries(shown.map(([name, inner]) => [name, this.example(inner, options, depth + 1)]));
  }

  private ownExample({ example, examples, enum: values, default: usual, format }: Schema): unknown {
    if (example !== undefined) return example;
    if (Array.isArray(examples) && examples.length > 0) return examples[0];
    if (values !== undefined) return values[0];
    if (usual !== undefined) return usual;
    return format === undefined ? undefined : OF_FORMAT[format];
  }
}

const PLAIN: Readonly<Record<string, unknown>> = { string: '…', integer: 0, number: 0, boolean: true, null: null };
const OF_FORMAT: Readonly<Record<string, unknown>> = {
  'date-time': '2023-11-14T22:13:20.007Z',
  uri: 'https://example.com/',
};

/** The types of a schema, including `null` when it is nullable. */
export function typesOf(schema: Schema): string[] {
  const own = [schema.type ?? (schema.properties === undefined ? [] : 'object')].flat();
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const isNullable = schema.nullable === true || alternatives.some((each) => isNull(each));
  return isNullable && !own.includes('null') ? [...own, 'null'] : own;
}

const isNull = (schema: Written): boolean => 'type' in schema && schema.type === 'null';

function merged(parts: readonly Schema[]): Schema {
  return parts.reduce((all, part) => ({
    ...part,
    ...all,
    properties: { ...all.properties, ...part.properties },
    required: [...(all.required ?? []), ...(part.required ?? [])],
  }));
}
