import { Inject, Injectable } from '@nestjs/common';
import { slotKey, type BindLease, type BindSlotName } from '@countersign/carriers/leases';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import type { BindSender } from '../binds/bind-supervisor.js';
import { BindConnections } from '../binds/bind-connections.js';
import { LinkMetrics, type Pace } from '../links/link.metrics.js';
import type { BindCapacity } from './mt-plan.js';
import { SubmitQueue, type SubmitQueueTerms } from './submit-queue.js';

/** Added to two response times (one for the queue, one for the response) for the lease of an attempt. */
const LEASE_MARGIN_SECONDS = 10;

/** The bind connections that can send now. */
type Senders = Pick<BindConnections, 'senders' | 'sendersOf' | 'senderOfLease' | 'senderOfSlot'>;

/** The submit queues of all connections; a slow connection does not delay others. */
@Injectable()
export class SubmitQueues {
  private readonly queues = new Map<string, SubmitQueue>();

  constructor(
    @Inject(BindConnections) private readonly senders: Senders,
    @Inject(LinkMetrics) metrics: Pick<LinkMetrics, 'setPaceSource'>,
  ) {
    metrics.setPaceSource(() => this.pacesOf(this.senders.senders()));
  }

  /**
   * The connection of the bind with most capacity beyond `planned` (by `slotKey`). Without capacity, the expected time until
   * there is some; null when the bind cannot send from this gateway.
   */
  capacityOf(
    bindId: string,
    planned: ReadonlyMap<string, number>,
  ): BindCapacity | { readonly fullForMs: number } | null {
    let most = 0;
    let best: BindSender | null = null;
    const senders = this.senders.sendersOf(bindId);
    for (const sender of senders) {
      const { lease } = sender;
      const capacity = this.queueOf(lease).capacityBeyond(planned.get(slotKey(lease)) ?? 0);
      if (capacity > most) [most, best] = [capacity, sender];
    }
    if (best !== null) return bindCapacityOf(best);
    if (senders.length === 0) return null;
    return { fullForMs: Math.min(...senders.map(({ lease }) => this.queueOf(lease).pauseMs)) };
  }

  /** Present rates of these connections; the agreed rate until the first submit. */
  pacesOf(senders: Iterable<BindSender>): Pace[] {
    return [...senders].map(({ bind, lease }) => {
      const agreed = bind.submitPerSecond / bind.connections;
      return { bind: bind.name, agreed, perSecond: this.queues.get(slotKey(lease))?.perSecond ?? agreed };
    });
  }

  reserve(lease: BindLease): void {
    this.queueOf(lease).reserve();
  }

  release(lease: BindLease): void {
    const queue = this.queueOf(lease);
    queue.release();
    // The queue of a lost connection is deleted, unless its rate is reduced.
    if (queue.isIdle && this.senders.senderOfLease(lease) === null) this.queues.delete(slotKey(lease));
  }

  /** See `SubmitQueue.submit`. */
  submit(lease: BindLease, withinMs: number, send: () => Promise<ResponsePdu>): Promise<ResponsePdu> {
    return this.queueOf(lease).submit(withinMs, send);
  }

  private queueOf(lease: BindLease): SubmitQueue {
    const key = slotKey(lease);
    const known = this.queues.get(key);
    if (known !== undefined) return known;
    const queue = new SubmitQueue(() => this.termsOf(lease));
    this.queues.set(key, queue);
    return queue;
  }

  /** By slot, not by lease: a reduced rate persists over reconnections. */
  private termsOf(slot: BindSlotName): SubmitQueueTerms | null {
    const sender = this.senders.senderOfSlot(slot);
    if (sender === null) return null;
    const { sendWindow: window, submitPerSecond, connections } = sender.bind;
    return { window, perSecond: submitPerSecond / connections };
  }
}

function bindCapacityOf({ bind, lease }: BindSender): BindCapacity {
  const leaseSeconds = 2 * bind.responseTimeoutSeconds + LEASE_MARGIN_SECONDS;
  return { carrier: bind.carrier, lease, leaseSeconds };
}
