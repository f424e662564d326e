import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { OVERVIEW_GROUPINGS, type OverviewGrouping } from '../../usage/overview.store.js';
import { IsInstant } from '../../usage/reported-window.js';

const Optional = (): PropertyDecorator => ValidateIf((_query, value) => value !== undefined);

/** The query of GET /v1/admin/overview. */
export class OverviewQuery {
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Start of the window. Default: 24 hours before `to`.',
    example: '2026-11-01T00:00:00Z',
  })
  @IsInstant('from')
  @Optional()
  from?: string;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'End of the window, exclusive. Default: the current time. At most 366 days after `from`.',
    example: '2026-12-01T00:00:00Z',
  })
  @IsInstant('to')
  @Optional()
  to?: string;

  @ApiPropertyOptional({
    enum: OVERVIEW_GROUPINGS,
    description: 'Adds `breakdown`: the same figures by country, channel, brand, route, day or hour (UTC).',
  })
  @IsIn([...OVERVIEW_GROUPINGS], failsWith('groupBy must be country, channel, brand, route, day or hour.'))
  @Optional()
  groupBy?: OverviewGrouping;

  @ApiPropertyOptional({
    type: 'string',
    enum: ['true', 'false'],
    description: '`true` for sessions of test keys. Default: `false`, live sessions.',
  })
  @IsIn(['true', 'false'], failsWith('test must be true or false.'))
  @Optional()
  test?: 'true' | 'false';
}
