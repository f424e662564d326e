import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { PageFormat } from '../../http/csv-answer.js';
import { Optional } from './fields.js';

const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;

/** The query of every list. */
export class PageQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })
  @Matches(/^(?:[1-9][0-9]?|100)$/, failsWith(`limit must be a whole number from 1 to ${MAX_LIMIT}.`))
  limit: string = String(DEFAULT_LIMIT);

  @ApiPropertyOptional({
    type: 'string',
    description: 'The id of the last item of the previous page: older ones follow.',
  })
  @IsString(failsWith('startingAfter must be an id of this list.'))
  @Optional()
  startingAfter?: string;

  @PageFormat()
  format?: 'json' | 'csv';
}

/** The query of a list of resources that belong to accounts. */
export class AccountPageQuery extends PageQuery {
  @ApiPropertyOptional({ type: 'string', description: 'Only resources of this account.' })
  @IsString(failsWith('accountId must be the id of an account.'))
  @Optional()
  accountId?: string;
}

/** The response of a list, newest first. */
export interface PageAnswer<View> {
  readonly data: readonly View[];
  readonly hasMore: boolean;
}

/** The class that describes such a response: `class BrandList extends PageOf(BrandAnswer) {}`. */
export function PageOf<View extends object>(view: Type<View>): Type<PageAnswer<View>> {
  class PageOfViews implements PageAnswer<View> {
    @ApiProperty({ type: view, isArray: true, description: 'Newest first.' })
    readonly data!: readonly View[];

    @ApiProperty({ type: 'boolean', description: 'Whether older ones follow; request them with startingAfter.' })
    readonly hasMore!: boolean;
  }
  return PageOfViews;
}
