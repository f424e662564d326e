import type { ApiPropertyOptions } from '@nestjs/swagger';

// Frequent declarations of fields in the admin API.

const ID_TAIL = '_[0-7][0-9A-HJKMNP-TV-Z]{25}$';
const EXAMPLE_TAIL = '01HF7YAT000000000000000001';

export const idField = (prefix: string, more: { readonly description?: string } = {}): ApiPropertyOptions => ({
  type: 'string',
  pattern: `^${prefix}${ID_TAIL}`,
  example: `${prefix}_${EXAMPLE_TAIL}`,
  ...more,
});

/** A nullable text; `text` constrains it. */
export const nullable = (
  text: { readonly pattern?: string; readonly format?: string; readonly maxLength?: number },
  more: { readonly description: string; readonly example: string | null },
): ApiPropertyOptions => ({ oneOf: [{ type: 'string', ...text }, { type: 'null' }], ...more });

export const nullableId = (prefix: string, description: string): ApiPropertyOptions =>
  nullable({ pattern: `^${prefix}${ID_TAIL}` }, { description, example: null });

export const USD_PATTERN = '^(0|[1-9][0-9]*)\\.[0-9]{2,6}$';
