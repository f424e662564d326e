import type { DueEvent } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import type { AfterCommit, EventSubscriber } from '../events/event.subscriber.js';
import { ApprovalStore } from './approval.store.js';

/** Counts approvals for the conversion budget of codes, in the transaction that dispatches their events. */
@Injectable()
export class ApprovalSubscriber implements EventSubscriber {
  constructor(@Inject(ApprovalStore) private readonly approvals: Pick<ApprovalStore, 'count'>) {}

  async handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    await this.approvals.count(tx, events);
    return () => undefined;
  }
}
