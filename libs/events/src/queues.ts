import type { JobIds } from '@countersign/bus';

/** The queues of the product. On Redis they live under QUEUE_PREFIX. */
export const QUEUES = {
  webhooks: 'countersign-webhooks',
  outbound: 'countersign-outbound',
  cards: 'countersign-cards',
} as const;

export type QueueName = keyof typeof QUEUES;

/** BullMQ's `prefix` on Redis: the braces keep all keys of a queue in one slot of a cluster. PostgreSQL ignores it. */
export const QUEUE_PREFIX = '{countersign}';

/** What a job of any queue holds: ids of rows (events, outbound messages, cards) that were just committed. A doubled or a late one does nothing. */
export type WakeUp = JobIds;
