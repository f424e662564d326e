import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { IsInstant } from './reported-window.js';
import { GROUPINGS, type Grouping } from './usage.store.js';

/** The query of GET /v1/usage (specification 4.6). */
export class UsageQuery {
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'Start of the window. Default: the first of this month, 00:00 UTC.',
    example: '2026-11-01T00:00:00Z',
  })
  @IsInstant('from')
  @ValidateIf((_query, value) => value !== undefined)
  from?: string;

  @ApiPropertyOptional({
    format: 'date-time',
    description: 'End of the window, exclusive. Default: the current time. At most 366 days after `from`.',
    example: '2026-12-01T00:00:00Z',
  })
  @IsInstant('to')
  @ValidateIf((_query, value) => value !== undefined)
  to?: string;

  @ApiPropertyOptional({
    enum: GROUPINGS,
    description: 'Adds `breakdown`: the same figures by day (UTC), country or brand.',
  })
  @IsIn([...GROUPINGS], failsWith('groupBy must be day, country or brand.'))
  @ValidateIf((_query, value) => value !== undefined)
  groupBy?: Grouping;
}
