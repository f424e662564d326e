import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { ChangeOf, isCountryOrEvery, isListOf, isText, Nullable, Satisfies } from '../crud/fields.js';
import { INBOUND_NUMBER_FIELDS } from './inbound-number.view.js';

/** The body of POST /v1/admin/inbound-numbers. */
export class InboundNumberDraft {
  @ApiProperty(INBOUND_NUMBER_FIELDS.number)
  @Satisfies(
    isText(/^(?:\+[1-9][0-9]{6,14}|[0-9]{3,8})$/),
    'number must be a number in E.164 format or a short code of 3 to 8 digits.',
  )
  number!: string;

  @ApiProperty(INBOUND_NUMBER_FIELDS.countries)
  @Satisfies(
    isListOf(isCountryOrEvery, { least: 1 }),
    'countries must be a list of at least one and different ISO 3166-1 alpha-2 country codes (GB, not UK), or hold "*" for every country.',
  )
  countries!: readonly string[];

  @ApiPropertyOptional(INBOUND_NUMBER_FIELDS.brandId)
  @IsString(failsWith('brandId must be the id of a brand, or null.'))
  @Nullable()
  brandId?: string | null;
}

/** The body of PATCH /v1/admin/inbound-numbers/{id}. */
export class InboundNumberChange extends ChangeOf(InboundNumberDraft) {}
