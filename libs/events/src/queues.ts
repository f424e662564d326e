import type { JobIds } from '@countersign/bus';

/** The queues of the product. On Redis their keys begin with QUEUE_PREFIX. */
export const QUEUES = {
  webhooks: 'countersign-webhooks',
  outbound: 'countersign-outbound',
  cards: 'countersign-cards',
} as const;

export type QueueName = keyof typeof QUEUES;

/** BullMQ's `prefix` on Redis: the braces keep all keys of a queue in one cluster slot. PostgreSQL ignores it. */
export const QUEUE_PREFIX = '{countersign}';

/**
 * Payload of a job of any queue: ids of rows (events, outbound messages, cards) that were just committed. A repeated
 * or late job has no effect.
 */
export type WakeUp = JobIds;
