import { Limiter, PubSub, TOPICS } from '@countersign/bus';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { CardJobNotifier } from '../notifiers/card-job.notifier.js';

/** Notifies the gateways of offered cards. */
@Injectable()
export class OfferNotifier {
  private readonly toBroadcast: Uuid[] = [];

  constructor(
    @Inject(PubSub) private readonly bus: Pick<PubSub, 'publish'>,
    @Inject(CardJobNotifier) private readonly queue: Pick<CardJobNotifier, 'notify'>,
    @Inject(Limiter) private readonly limiter: Pick<Limiter, 'away'>,
  ) {}

  /** Whether the store of the notification queue is unavailable. The limiter and the notifier use the same Redis. */
  get isQueueAway(): boolean {
    return this.limiter.away;
  }

  /**
   * Broadcasts an offer to all gateways, after its commit: faster than the queue, but messages can be lost. Collects the
   * offers of one batch, which commit in the same turn of the event loop, into one broadcast.
   */
  broadcast(id: Uuid): void {
    this.toBroadcast.push(id);
    if (this.toBroadcast.length === 1) {
      process.nextTick(() => this.bus.publish(TOPICS.cardOffers, this.toBroadcast.splice(0)));
    }
  }

  /** Notifies one gateway through the queue of an offer or a revoke, after the commit. Never throws. */
  notify(ids: readonly Uuid[]): void {
    this.queue.notify(ids);
  }
}
