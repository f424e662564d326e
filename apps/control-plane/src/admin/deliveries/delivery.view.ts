import { EVENT_TYPES } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { AttemptAnswer, DELIVERY_STATUSES, redactBody } from '../../webhooks/delivery.view.js';
import { PageOf } from '../crud/paging.js';
import { maskPeopleIn, maskText } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, nullableId } from '../crud/view-fields.js';
import type { DeliveryRecord } from './delivery.records.js';

/** A delivery in a list: without its body, and with its last attempt alone. */
@ApiExtraModels(AttemptAnswer)
export class DeliveryRecordAnswer {
  @ApiProperty(idField('dlv'))
  readonly id!: string;

  @ApiProperty(idField('evt', { description: 'The `webhook-id` that the receiver sees: the same on every attempt.' }))
  readonly eventId!: string;

  @ApiProperty(idField('acct'))
  readonly accountId!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether it belongs to test mode.' })
  readonly test!: boolean;

  @ApiProperty({ type: 'string', enum: [...EVENT_TYPES], example: 'verification.completed' })
  readonly type!: string;

  @ApiProperty(nullableId('sess', 'Null for a test, and for news of the account.'))
  readonly sessionId!: string | null;

  @ApiProperty({
    type: 'string',
    maxLength: 2048,
    description: 'For roles that see masked phones without its user, its fragment and the values of its parameters.',
    example: 'https://acme.example/webhooks',
  })
  readonly url!: string;

  @ApiProperty({
    type: 'string',
    enum: [...DELIVERY_STATUSES],
    description: '`blocked`: the URL leads to an address that webhooks may not go to.',
  })
  readonly status!: string;

  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Up to a hundred attempts are kept.' })
  readonly attemptsMade!: number;

  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(AttemptAnswer) }, { type: 'null' }],
    description: 'Null before the first attempt.',
  })
  readonly lastAttempt!: Plain<AttemptAnswer> | null;

  @ApiProperty(
    nullable({ format: 'date-time' }, { description: 'Null once it has ended.', example: '2026-01-31T12:00:00.000Z' }),
  )
  readonly nextAttemptAt!: string | null;
}

export class DeliveryRecordList extends PageOf(DeliveryRecordAnswer) {}

export class DeliveryDetailAnswer extends DeliveryRecordAnswer {
  @ApiProperty({ type: AttemptAnswer, isArray: true, description: 'The last hundred attempts, oldest first.' })
  readonly attempts!: readonly Plain<AttemptAnswer>[];

  @ApiProperty({
    oneOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
    description:
      'The body that is posted, with `authEntropy` and `fallbackUri` as `"[redacted]"`; for roles that see masked phones also without metadata. Null before the first attempt, and from 72 hours after the end.',
    example: { type: 'webhook.test', timestamp: '2023-11-14T22:13:20.007Z', data: {} },
  })
  readonly body!: unknown;
}

export function deliveryRecordView(row: DeliveryRecord): Plain<DeliveryRecordAnswer> {
  const { id, accountId, test, sessionId, type, url, status, attempts, nextAttemptAt } = row;
  return {
    id: renderId('dlv', id),
    eventId: renderId('evt', id),
    accountId: renderId('acct', accountId),
    test,
    type,
    sessionId: sessionId === null ? null : renderId('sess', sessionId),
    url,
    status,
    attemptsMade: attempts.length,
    lastAttempt: attempts.at(-1) ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
}

/** @param body JSON text as it is posted, or null */
export const deliveryDetailView = (row: DeliveryRecord, body: string | null): Plain<DeliveryDetailAnswer> => ({
  ...deliveryRecordView(row),
  attempts: row.attempts,
  body: body === null ? null : (JSON.parse(redactBody(body)) as unknown),
});

export const withoutTokens = <Shown extends Plain<DeliveryRecordAnswer>>(shown: Shown): Shown => ({
  ...shown,
  url: maskText(shown.url),
});

export const withoutPeople = (shown: Plain<DeliveryDetailAnswer>): Plain<DeliveryDetailAnswer> => ({
  ...withoutTokens(shown),
  body: maskPeopleIn(shown.body),
});
