import { QueueSwitchStore } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../../http/errors.js';
import { DeliveryJobNotifier } from '../../notifiers/delivery-job.notifier.js';
import type { AdminResource, Written } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { QUEUE_NAMES, QUEUE_WORK, type QueueRecord, QueueRecords, withDepth } from './queue.records.js';
import { type QueueAnswer, queueDecisions, queueView } from './queue.view.js';

type Answer = Plain<QueueAnswer>;
type Reply = Promise<Outcome<Written<QueueRecord, Answer>>>;

/** Per transaction; call again for more failures. */
export const MAX_RETRIED = 5_000;

@Injectable()
export class QueueResource implements AdminResource<QueueRecord, Answer> {
  readonly name = 'queues';
  readonly noun = 'queue';
  readonly idPrefix = 'queue';
  readonly names = QUEUE_NAMES;
  readonly table: QueueRecords;
  readonly view = queueView;
  readonly audited = queueDecisions;
  readonly refusals = {};
  private readonly switches = new QueueSwitchStore();

  constructor(private readonly notifier: DeliveryJobNotifier) {
    this.table = new QueueRecords(this.switches);
  }

  /** The webhook dispatcher of this process reads the change at once; all other workers within 2 s. */
  readonly committed = (): void => this.notifier.notify();

  async turn(tx: Executor, queue: QueueRecord, paused: boolean): Reply {
    return succeed({ row: { ...queue, ...(await this.switches.setPaused(tx, queue.id, paused)) } });
  }

  async retryFailed(tx: Executor, queue: QueueRecord): Reply {
    const retried = await QUEUE_WORK[queue.id].retryFailed(tx, MAX_RETRIED);
    return succeed({ row: { ...(await withDepth(tx, queue)), retried }, once: { retried } });
  }
}
