import { PRICED_CHANNELS, renderUsd, type Price } from '@countersign/accounts/prices';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, USD_PATTERN } from '../crud/view-fields.js';

export const PRICE_FIELDS = {
  channel: {
    type: 'string',
    enum: [...PRICED_CHANNELS],
    description: 'A session by its channel, or a submitted code.',
  },
  country: {
    type: 'string',
    pattern: '^(\\*|[A-Z]{2})$',
    description: 'ISO 3166-1 alpha-2; `*` for countries without a price of their own.',
    example: 'US',
  },
  from: {
    type: 'string',
    format: 'date-time',
    description: 'Start of the price; it holds until a later one of the same channel and country.',
    example: '2026-01-01T00:00:00.000Z',
  },
} as const satisfies Record<string, ApiPropertyOptions>;

export class PriceAnswer {
  @ApiProperty(idField('price'))
  readonly id!: string;

  @ApiProperty(PRICE_FIELDS.channel)
  readonly channel!: string;

  @ApiProperty(PRICE_FIELDS.country)
  readonly country!: string;

  @ApiProperty({ type: 'string', pattern: USD_PATTERN, description: 'US dollars per unit.', example: '0.0079' })
  readonly usd!: string;

  @ApiProperty(PRICE_FIELDS.from)
  readonly from!: string;
}

export class PriceList extends PageOf(PriceAnswer) {}

export function priceView({ id, channel, country, usd, from }: Price): Plain<PriceAnswer> {
  return { id: renderId('price', id), channel, country, usd: renderUsd(usd), from: from.toISOString() };
}
