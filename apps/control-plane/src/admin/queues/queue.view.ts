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
  @ApiProperty(count('What is still to be done: due, or waiting for its next attempt.', 3))
  readonly waiting!: number;

  @ApiProperty(count('What is being done at this moment.', 1))
  readonly inFlight!: number;

  @ApiProperty(count('What was given up, as long as it is kept.', 0))
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

  @ApiProperty(nullable({ format: 'date-time' }, { description: 'Since when; null while it runs.', example: null }))
  readonly pausedAt!: string | null;

  @ApiProperty({ type: QueueCounts, description: `A number of ${MAX_COUNTED} means so many or more.` })
  readonly counts!: Plain<QueueCounts>;

  @ApiProperty({
    oneOf: [{ type: 'number', minimum: 0 }, { type: 'null' }],
    description:
      'For how long the oldest has waited that could have gone: a webhook since it was due, a code or a card since it was asked for. Null when there is none.',
    example: 1.25,
  })
  readonly oldestAgeSeconds!: number | null;

  @ApiPropertyOptional(count('How many were queued again, in the answer of that action alone.', 12))
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

/** What engineers decide of a queue. */
export const queueDecisions = ({ id, pausedAt, retried }: QueueRecord): object => ({
  name: id,
  paused: pausedAt !== null,
  ...(retried === undefined ? {} : { retried }),
});
