import { MAX_COUNTED, QUEUES, type QueueName } from '@countersign/events';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { nullable } from '../crud/view-fields.js';
import type { QueueRecord } from './queue.records.js';

const count = (description: string, example: number): ApiPropertyOptions => ({
  type: 'integer',
  minimum: 0,
  description,
  example,
});

export class QueueCounts {
  @ApiProperty(count('Jobs to be done: due, or waiting for their next attempt.', 3))
  readonly waiting!: number;

  @ApiProperty(count('Jobs in progress.', 1))
  readonly inFlight!: number;

  @ApiProperty(count('Jobs that were given up, while they are kept.', 0))
  readonly failed!: number;
}

export class QueueAnswer {
  @ApiProperty({
    type: 'string',
    enum: Object.keys(QUEUES),
    description: 'Webhooks to callers; codes and cards to phones, but for those of test keys.',
    example: 'webhooks',
  })
  readonly name!: QueueName;

  @ApiProperty({ type: 'boolean' })
  readonly paused!: boolean;

  @ApiProperty(
    nullable({ format: 'date-time' }, { description: 'Start of the pause; null while it runs.', example: null }),
  )
  readonly pausedAt!: string | null;

  @ApiProperty({ type: QueueCounts, description: `A number of ${MAX_COUNTED} means at least that many.` })
  readonly counts!: Plain<QueueCounts>;

  @ApiProperty({
    oneOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
    description:
      'How long the oldest job that could be processed has waited: a webhook since it was due, a code or a card since it was requested. Null when there is none.',
    example: 1.25,
  })
  readonly oldestAgeSeconds!: number | null;

  @ApiPropertyOptional(count('Number of jobs queued again, in the response of that action only.', 12))
  readonly retried?: number;
}

export class QueueList extends PageOf(QueueAnswer) {}

export function queueView({ id, pausedAt, ...depth }: QueueRecord): Plain<QueueAnswer> {
  const { waiting, inFlight, failed, oldestAgeSeconds } = depth;
  return {
    name: id,
    paused: pausedAt !== null,
    pausedAt: pausedAt?.toISOString() ?? null,
    counts: { waiting, inFlight, failed },
    oldestAgeSeconds,
  };
}

/** The part of a queue that engineers change. */
export const queueDecisions = ({ id, pausedAt, retried }: QueueRecord): object => ({
  name: id,
  paused: pausedAt !== null,
  ...(retried === undefined ? {} : { retried }),
});
