import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import type { DeliveryStatus } from '../../webhooks/attempt.js';
import { DELIVERY_STATUSES } from '../../webhooks/delivery.view.js';
import { Optional } from '../crud/fields.js';
import { OnlyOf, OnlyOfMode } from '../crud/filters.js';
import { AccountPageQuery } from '../crud/paging.js';

/** The query of GET /v1/admin/deliveries. */
export class DeliveriesQuery extends AccountPageQuery {
  @ApiPropertyOptional({
    type: 'string',
    enum: [...DELIVERY_STATUSES],
    description: 'Only deliveries with this status.',
  })
  @IsIn([...DELIVERY_STATUSES], failsWith(`status must be one of ${DELIVERY_STATUSES.join(', ')}.`))
  @Optional()
  status?: DeliveryStatus;

  @OnlyOf('sessionId', 'sess', 'session')
  sessionId?: string;

  @OnlyOfMode()
  test?: 'true' | 'false';
}
