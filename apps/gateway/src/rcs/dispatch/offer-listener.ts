import { Inject, Injectable } from '@nestjs/common';
import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { isUuid, type Uuid } from '@countersign/ids';
import { OnStart, OnStop } from '../../composition/phases.js';
import { OfferDispatcher } from './offer.dispatcher.js';

/** Offers read from one message; further ones come through the queue. */
const MAX_OFFERS = 1_000;

/**
 * Subscribes to new offers on the bus. All gateways receive the broadcast; the first to claim an offer sends it. Offers
 * that no gateway received are retried through the queue.
 */
@Injectable()
export class OfferListener {
  private subscription: Subscription | undefined;

  constructor(
    @Inject(PubSub) private readonly bus: Pick<PubSub, 'subscribe'>,
    @Inject(OfferDispatcher) private readonly dispatcher: Pick<OfferDispatcher, 'claimAndSend'>,
  ) {}

  @OnStart('start sending')
  start(): void {
    this.subscription = this.bus.subscribe(
      TOPICS.cardOffers,
      (message) => void this.dispatcher.claimAndSend(parseIds(message.json())),
    );
  }

  @OnStop('stop sending')
  stop(): void {
    this.subscription?.close();
  }
}

/** At most MAX_OFFERS ids of a message; entries of another form are ignored. */
export function parseIds(message: unknown): Uuid[] {
  return Array.isArray(message) ? message.slice(0, MAX_OFFERS).filter(isUuid) : [];
}
