import type { InboundNumber } from '@countersign/carriers/config';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullableId } from '../crud/view-fields.js';

export const INBOUND_NUMBER_FIELDS = {
  number: {
    type: 'string',
    pattern: '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8})$',
    description: 'The number that phones send to: E.164, or a short code of 3 to 8 digits. Unique.',
    example: '+14155550100',
  },
  countries: {
    type: 'array',
    items: { type: 'string', pattern: '^(\\*|[A-Z]{2})$' },
    minItems: 1,
    description: 'ISO 3166-1 alpha-2 codes of the countries whose phones send to it; `*` for all others.',
    example: ['US', 'CA'],
  },
  brandId: nullableId('brd', 'The brand that it is reserved for; null for all brands.'),
} as const satisfies Record<string, ApiPropertyOptions>;

export class InboundNumberAnswer {
  @ApiProperty(idField('num'))
  readonly id!: string;

  @ApiProperty(INBOUND_NUMBER_FIELDS.number)
  readonly number!: string;

  @ApiProperty(INBOUND_NUMBER_FIELDS.countries)
  readonly countries!: readonly string[];

  @ApiProperty(INBOUND_NUMBER_FIELDS.brandId)
  readonly brandId!: string | null;
}

export class InboundNumberList extends PageOf(InboundNumberAnswer) {}

export function inboundNumberView({ id, number, countries, brandId }: InboundNumber): Plain<InboundNumberAnswer> {
  return {
    id: renderId('num', id),
    number,
    countries,
    brandId: brandId === null ? null : renderId('brd', brandId),
  };
}
