import { inline } from '../rendering/markdown.js';
import { code, escape, table } from '../rendering/page.js';
import { typesOf, type Field, type Schema } from '../openapi/schema.js';

/**
 * Fields of a body or parameters of a call, with their constraints. `asked`: whether omitting a required one is an
 * error.
 */
export function fieldTable(fields: readonly Field[], { asked }: { readonly asked: boolean }): string {
  return table(
    ['Field', 'Type', 'Meaning'],
    fields.map(({ name, required, schema }) => [
      code(name) + presence(required, asked),
      `<span class="kind">${escape(typeText(schema))}</span>`,
      [inline(schema.description ?? ''), bounds(schema)].filter((part) => part !== '').join('<br>'),
    ]),
  );
}

function presence(required: boolean, asked: boolean): string {
  if (asked) return required ? ' <span class="need">required</span>' : '';
  return required ? '' : ' <span class="kind">optional</span>';
}

function typeText(schema: Schema): string {
  const types = typesOf(schema).map((type) => (type === 'array' ? `array of ${itemType(schema)}` : type));
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return types.length === 0 ? 'any' : types.join(' or ') + format;
}

function itemType({ items }: Schema): string {
  if (items === undefined) return 'values';
  return '$ref' in items ? 'object' : typeText(items);
}

/** The constraints of a value, in a few words. */
function bounds(schema: Schema): string {
  const { enum: values, minimum, maximum, minLength, maxLength, maxItems, maxProperties } = schema;
  const usual: unknown = schema.default;
  const items = schema.items !== undefined && !('$ref' in schema.items) ? schema.items.enum : undefined;
  const all = [
    listing('One of', values),
    listing('Each one of', items),
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    maxItems === undefined ? '' : `At most ${maxItems}.`,
    maxProperties === undefined ? '' : `At most ${maxProperties} keys.`,
    schema.pattern === undefined ? '' : `Pattern ${code(schema.pattern)}.`,
    usual === undefined ? '' : `${code(JSON.stringify(usual))} unless given.`,
  ];
  const text = all.filter((part) => part !== '').join(' ');
  return text === '' ? '' : `<span class="kind">${text}</span>`;
}

const listing = (words: string, values: readonly unknown[] | undefined): string =>
  values === undefined ? '' : `${words} ${values.map((value) => code(String(value))).join(', ')}.`;

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from === undefined && to === undefined) return '';
  if (from === undefined) return `At most ${String(to)}${unit}.`;
  return to === undefined ? `At least ${from}${unit}.` : `${from} to ${to}${unit}.`;
}
