import { Inject, Injectable } from '@nestjs/common';
import { linkKey, type SendingLink } from '@countersign/carriers/leases';
import type { LinkCapacity, RouteTarget } from '@countersign/carriers/planning';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import type { BindSender } from '../binds/bind-supervisor.js';
import { LinkMetrics, type Pace } from '../links/link.metrics.js';
import type { LinkSender } from '../links/link-sender.js';
import { CodeSenders } from './code-senders.js';
import { SubmitQueue, type SubmitQueueTerms } from './submit-queue.js';

/** Added to two response times (one for the queue, one for the response) for the lease of an attempt. */
const LEASE_MARGIN_SECONDS = 10;

/** The links that can send now. */
type Senders = Pick<CodeSenders, 'bindSenders' | 'sendersOf' | 'senderOf' | 'presentSenderOf'>;

/** The submit queues of all connections of binds, and of all systems; a slow one does not delay others. */
@Injectable()
export class SubmitQueues {
  private readonly queues = new Map<string, SubmitQueue>();

  constructor(
    @Inject(CodeSenders) private readonly senders: Senders,
    @Inject(LinkMetrics) metrics: Pick<LinkMetrics, 'setPaceSource'>,
  ) {
    metrics.setPaceSource(() => this.pacesOf(this.senders.bindSenders()));
  }

  /**
   * The link of the bind or system with most capacity beyond `planned` (by `linkKey`). Without capacity, the expected time
   * until there is some; null when nothing can be sent over it from this gateway.
   */
  capacityOf(
    target: RouteTarget,
    planned: ReadonlyMap<string, number>,
  ): LinkCapacity | { readonly fullForMs: number } | null {
    let most = 0;
    let best: LinkSender | null = null;
    const senders = this.senders.sendersOf(target);
    for (const sender of senders) {
      const { link } = sender;
      const capacity = this.queueOf(link).capacityBeyond(planned.get(linkKey(link)) ?? 0);
      if (capacity > most) [most, best] = [capacity, sender];
    }
    if (best !== null) return linkCapacityOf(best);
    if (senders.length === 0) return null;
    return { fullForMs: Math.min(...senders.map(({ link }) => this.queueOf(link).pauseMs)) };
  }

  /** Present rates of these connections; the agreed rate until the first submit. */
  pacesOf(senders: Iterable<BindSender>): Pace[] {
    return [...senders].map(({ bind, link, perSecond: agreed }) => {
      return { bind: bind.name, agreed, perSecond: this.queues.get(linkKey(link))?.perSecond ?? agreed };
    });
  }

  reserve(link: SendingLink): void {
    this.queueOf(link).reserve();
  }

  release(link: SendingLink): void {
    const queue = this.queueOf(link);
    queue.release();
    // The queue of a lost connection is deleted, unless its rate is reduced.
    if (queue.isIdle && this.senders.senderOf(link) === null) this.queues.delete(linkKey(link));
  }

  /** See `SubmitQueue.submit`. */
  submit(link: SendingLink, withinMs: number, send: () => Promise<ResponsePdu>): Promise<ResponsePdu> {
    return this.queueOf(link).submit(withinMs, send);
  }

  private queueOf(link: SendingLink): SubmitQueue {
    const key = linkKey(link);
    const known = this.queues.get(key);
    if (known !== undefined) return known;
    const queue = new SubmitQueue(() => this.termsOf(link));
    this.queues.set(key, queue);
    return queue;
  }

  /** By slot, not by lease: a reduced rate persists over reconnections. */
  private termsOf(link: SendingLink): SubmitQueueTerms | null {
    return this.senders.presentSenderOf(link);
  }
}

function linkCapacityOf({ terms, link }: LinkSender): LinkCapacity {
  const leaseSeconds = 2 * terms.responseTimeoutSeconds + LEASE_MARGIN_SECONDS;
  return { carrier: terms.carrier, link, leaseSeconds };
}
