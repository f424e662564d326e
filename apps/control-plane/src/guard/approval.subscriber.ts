import type { DueEvent } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import type { AfterCommit, EventSubscriber } from '../events/event.subscriber.js';
import type { ApprovalStore } from './approval.store.js';

/** Counts approvals for the conversion budget of codes, in the transaction that dispatches their events. */
export class ApprovalSubscriber implements EventSubscriber {
  constructor(private readonly approvals: Pick<ApprovalStore, 'count'>) {}

  async handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    await this.approvals.count(tx, events);
    return () => undefined;
  }
}
