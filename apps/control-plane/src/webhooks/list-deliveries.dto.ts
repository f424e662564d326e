import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { PageFormat } from '../http/csv-answer.js';
import type { DeliveryStatus } from './attempt.js';
import { DELIVERY_STATUSES } from './delivery.view.js';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const isPresent = (_query: object, value: unknown): boolean => value !== undefined;

/** The query of GET /v1/webhooks/deliveries. All values of a query are text. */
export class ListDeliveries {
  @ApiPropertyOptional({ enum: DELIVERY_STATUSES, description: 'Only deliveries of this status.' })
  @IsIn(DELIVERY_STATUSES, failsWith('status must be pending, succeeded, failed or blocked.'))
  @ValidateIf(isPresent)
  status?: DeliveryStatus;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })
  @Matches(/^(?:[1-9][0-9]?|100)$/, failsWith(`limit must be a whole number from 1 to ${MAX_PAGE}.`))
  limit: string = String(DEFAULT_PAGE);

  @ApiPropertyOptional({
    description: 'The last id of the page before: older deliveries follow.',
    example: 'dlv_01HF7YAT000000000000000009',
  })
  @Matches(/^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, failsWith('startingAfter must be the id of a delivery.'))
  @ValidateIf(isPresent)
  startingAfter?: string;

  @PageFormat()
  format?: 'json' | 'csv';
}
