import { CardQueue } from '@countersign/rcs/offers';
import { OutboundQueue } from '@countersign/carriers/outbound';
import { QueueSwitchStore, type QueueDepth, type QueueName, type QueueSwitch } from '@countersign/events';
import type { Executor, Page, PageRequest, Records } from '@countersign/postgres';
import { DeliveryQueue } from '../../webhooks/delivery-queue.js';

/** Z to A, as the newest first of what goes by names. */
export const QUEUE_NAMES = ['webhooks', 'outbound', 'cards'] as const satisfies readonly QueueName[];

/** A queue as it stands: its switch, and what waits behind it. */
export interface QueueRecord extends QueueSwitch, QueueDepth {
  /** How many an action has queued again. */
  readonly retried?: number;
}

/** How deep a queue is, and how its failures are given another chance. */
interface QueueWork {
  depth(db: Executor): Promise<QueueDepth>;
  /** Answers how many. */
  retryFailed(tx: Executor, limit: number): Promise<number>;
}

export const QUEUE_WORK: Readonly<Record<QueueName, QueueWork>> = {
  webhooks: new DeliveryQueue(),
  outbound: new OutboundQueue(),
  cards: new CardQueue(),
};

/** The queues as engineers read them. */
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

/** The switch, and what waits behind it now. */
export const withDepth = async (db: Executor, { id, pausedAt }: QueueSwitch): Promise<QueueRecord> => ({
  id,
  pausedAt,
  ...(await QUEUE_WORK[id].depth(db)),
});
