import type { JobIds } from '@countersign/bus';
import { isUuid, type Uuid } from '@countersign/ids';

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
 * The ids of a job of any queue: rows (events, outbound messages, cards) that were just committed. A repeated or late job has
 * no effect. Anyone who reaches the queues can add a job, so values that are no ids are left out.
 */
export function idsOf(data: unknown): Uuid[] {
  const ids: unknown = (data as Partial<JobIds> | null | undefined)?.ids;
  return Array.isArray(ids) ? ids.filter(isUuid) : [];
}
