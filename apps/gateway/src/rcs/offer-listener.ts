import type { PubSub, Subscription } from '@countersign/bus';
import { OFFERS_TOPIC } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import type { CardOffers } from './card-offers.js';

/** Of one message; the queue job brings further ones. */
const MAX_OFFERS = 1_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Hears over the bus of offers that were made this moment. Every gateway does, and whoever claims one first sends it; what
 * none of them hears so, the bell rings for.
 */
export class OfferListener {
  private subscription: Subscription | undefined;

  constructor(
    private readonly bus: Pick<PubSub, 'subscribe'>,
    private readonly offers: Pick<CardOffers, 'take'>,
  ) {}

  start(): void {
    this.subscription = this.bus.subscribe(OFFERS_TOPIC, (message) => void this.offers.take(readIds(message.json())));
  }

  stop(): void {
    this.subscription?.close();
  }
}

/** The ids in a message; entries of another form are left out. */
export function readIds(message: unknown): Uuid[] {
  const isId = (one: unknown): one is Uuid => typeof one === 'string' && UUID.test(one);
  return Array.isArray(message) ? message.slice(0, MAX_OFFERS).filter(isId) : [];
}
