import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseClock } from '@countersign/postgres';
import { STATUS } from '@countersign/smpp/pdu';
import { ListenerMetrics } from './listener.metrics.js';
import { deliveredReceipt, needsDataSm, type DueReceipt } from './receipt-request.js';
import type { SystemLink } from './system-link.js';
import { SystemLinks } from './system-links.js';

/** Maximum receipts of one system that wait for a window slot; further ones are dropped. */
export const MAX_QUEUED_RECEIPTS = 1_000;

type Outcome = 'accepted' | 'refused' | 'unanswered' | 'no_link' | 'queue_full';

/**
 * Sends the receipts that systems requested with their messages, over any connection of the system that can receive. Best
 * effort: a receipt without such a connection is dropped, and none is sent twice. Codes keep half of each window.
 */
@Injectable()
export class SystemReceipts {
  readonly #queues = new Map<Uuid, DueReceipt[]>();

  constructor(
    @Inject(SystemLinks) private readonly links: Pick<SystemLinks, 'onReceiptDue' | 'receiversOf'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly metrics: ListenerMetrics,
  ) {
    // The response is written in an earlier callback of the same phase of the event loop (`LinkOutput`), before the receipt.
    links.onReceiptDue((systemId, due) => setImmediate(() => this.enqueue(systemId, due)));
  }

  private enqueue(systemId: Uuid, due: DueReceipt): void {
    const queue = this.#queues.get(systemId) ?? [];
    if (queue.length >= MAX_QUEUED_RECEIPTS) {
      this.count('queue_full');
      return;
    }
    queue.push(due);
    this.#queues.set(systemId, queue);
    this.sendQueued(systemId);
  }

  /** Sends until the queue is empty or the slots for receipts are used; the end of one of these calls it again. */
  private sendQueued(systemId: Uuid): void {
    const queue = this.#queues.get(systemId) ?? [];
    for (let [due] = queue; due !== undefined; [due] = queue) {
      const receivers = this.receiversOf(systemId, due);
      const [freest] = receivers.sort((one, other) => other.receiptSlots - one.receiptSlots);
      if (freest !== undefined && freest.receiptSlots < 1) break;
      queue.shift();
      if (freest === undefined) this.count('no_link');
      else void this.send(freest, due).then(() => this.sendQueued(systemId));
    }
    if (queue.length === 0) this.#queues.delete(systemId);
  }

  private receiversOf(systemId: Uuid, { request }: DueReceipt): SystemLink[] {
    const receivers = this.links.receiversOf(systemId);
    return needsDataSm(request) ? receivers.filter(({ knowsDataSm }) => knowsDataSm) : receivers;
  }

  private async send(link: SystemLink, due: DueReceipt): Promise<void> {
    try {
      const atMs = this.clock.nowMs() - (performance.now() - due.request.receivedMs);
      const { status } = await link.deliverReceipt(deliveredReceipt(due, atMs));
      this.count(status === STATUS.ESME_ROK ? 'accepted' : 'refused');
    } catch {
      this.count('unanswered');
    }
  }

  private count(outcome: Outcome): void {
    this.metrics.sentReceipts.inc({ outcome });
  }
}
