import type { PubSub, Subscription } from '@countersign/bus';
import { OFFERS_TOPIC } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { OfferDispatcher } from './offer.dispatcher.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Subscribes to new offers on the bus. All gateways receive the broadcast; the first to claim an offer sends it. Offers
 * that no gateway received are retried through the queue.
 */
export class OfferListener {
  private subscription: Subscription | undefined;

  constructor(
    private readonly bus: Pick<PubSub, 'subscribe'>,
    private readonly dispatcher: Pick<OfferDispatcher, 'claimAndSend'>,
  ) {}

  start(): void {
    this.subscription = this.bus.subscribe(
      OFFERS_TOPIC,
      (message) => void this.dispatcher.claimAndSend(parseIds(message.json())),
    );
  }

  stop(): void {
    this.subscription?.close();
  }
}

/** The ids in a message; anything else in it is ignored. */
export function parseIds(message: unknown): Uuid[] {
  const isId = (value: unknown): value is Uuid => typeof value === 'string' && UUID.test(value);
  return Array.isArray(message) ? message.filter(isId) : [];
}
