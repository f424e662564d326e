import { PRICED_CHANNELS, type PricedChannel } from '@countersign/accounts/prices';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { ChangeOf, isCountryOrEvery, isInstant, isUsdText, Optional, Satisfies } from '../crud/fields.js';
import { PRICE_FIELDS } from './price.view.js';

/** The body of POST /v1/admin/prices. Without `from` the price holds from now on. */
export class PriceDraft {
  @ApiProperty(PRICE_FIELDS.channel)
  @IsIn([...PRICED_CHANNELS], failsWith(`channel must be one of ${PRICED_CHANNELS.join(', ')}.`))
  channel!: PricedChannel;

  @ApiProperty(PRICE_FIELDS.country)
  @Satisfies(
    isCountryOrEvery,
    'country must be an ISO 3166-1 alpha-2 country code (GB, not UK), or "*" for every other country.',
  )
  country!: string;

  @ApiProperty({
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,7})(\\.[0-9]{1,6})?$',
    description: 'US dollars per unit, as text: JSON numbers are not exact.',
    example: '0.0079',
  })
  @Satisfies(isUsdText, 'usd must be an amount of 0 or more as text with up to six decimals, such as "0.0079".')
  usd!: string;

  @ApiPropertyOptional(PRICE_FIELDS.from)
  @Satisfies(isInstant, 'from must be a time with its offset, such as 2026-01-31T00:00:00Z (RFC 3339).')
  @Optional()
  from?: string;
}

/** The body of PATCH /v1/admin/prices/{id}. Past usage keeps its price. */
export class PriceChange extends ChangeOf(OmitType(PriceDraft, ['channel', 'country'])) {}
