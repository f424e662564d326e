import { CardQueue } from '@countersign/rcs/offers';
import { OutboundQueue } from '@countersign/carriers/outbound';
import { QueueSwitchStore, type QueueDepth, type QueueName, type QueueSwitch } from '@countersign/events';
import type { Executor, Page, PageRequest, Records } from '@countersign/postgres';
import { DeliveryQueue } from '../../webhooks/delivery-queue.js';

/** Z to A: resources with names are listed in this order instead of newest first. */
export const QUEUE_NAMES = ['webhooks', 'outbound', 'cards'] as const satisfies readonly QueueName[];

/** A queue: its switch and its depth. */
export interface QueueRecord extends QueueSwitch, QueueDepth {
  /** Number of jobs that an action has queued again. */
  readonly retried?: number;
}

/** Depth of a queue, and the retry of its failures. */
interface QueueWork {
  depth(db: Executor): Promise<QueueDepth>;
  /** Returns the number of jobs that are queued again. */
  retryFailed(tx: Executor, limit: number): Promise<number>;
}

export const QUEUE_WORK: Readonly<Record<QueueName, QueueWork>> = {
  webhooks: new DeliveryQueue(),
  outbound: new OutboundQueue(),
  cards: new CardQueue(),
};

/** The queues for the admin API. */
export class QueueRecords implements Records<QueueRecord> {
  constructor(private readonly switches: QueueSwitchStore) {}

  async list(db: Executor, { limit, startingAfter }: PageRequest): Promise<Page<QueueRecord>> {
    const names = QUEUE_NAMES.filter((name) => startingAfter === null || name < startingAfter);
    const rows: QueueRecord[] = [];
    for (const found of await this.switches.read(db, names.slice(0, limit))) rows.push(await withDepth(db, found));
    return { rows, hasMore: names.length > limit };
  }

  async find(db: Executor, name: string): Promise<QueueRecord | null> {
    const queue = nameOf(name);
    const [found] = queue === null ? [] : await this.switches.read(db, [queue]);
    return found === undefined ? null : withDepth(db, found);
  }

  async lock(tx: Executor, name: string): Promise<QueueRecord | null> {
    const queue = nameOf(name);
    return queue === null ? null : withDepth(tx, await this.switches.lock(tx, queue));
  }
}

const nameOf = (text: string): QueueName | null => QUEUE_NAMES.find((name) => name === text) ?? null;

/** The switch with the current depth. */
export const withDepth = async (db: Executor, { id, pausedAt }: QueueSwitch): Promise<QueueRecord> => ({
  id,
  pausedAt,
  ...(await QUEUE_WORK[id].depth(db)),
});
