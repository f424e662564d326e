import { TOPICS } from '@countersign/bus';
import { CardAnswers } from '@countersign/rcs/rules';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import type { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { RcsOfferService } from './rcs-offer.service.js';
import { CardSweeper } from './card.sweeper.js';

export interface CardsOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
}

@Module({})
export class CardsModule {
  static over({ settings, stores, metrics, failures }: CardsOptions): DynamicModule {
    const offers = new RcsOfferService({
      store: stores.cards,
      answers: new CardAnswers(stores.keys),
      database: stores.database,
      bus: stores.bus,
      originProcess: stores.clock.newId(),
      deliveryWaitMs: settings.rcsDeliveryWaitMs,
      nowMs: () => stores.clock.nowMs(),
      broadcast: (ids) => stores.bus.publish(TOPICS.cardOffers, ids),
      notify: (ids) => stores.cardNotifier.notify(ids),
      // The limiter and the notifier use the same Redis.
      isQueueAway: () => stores.limiter.away,
      onEnd: (end, tookMs) => metrics.countCard(end, tookMs),
      onError: failures.about('sending a card'),
    });
    metrics.watch('creates_waiting', 'Creates that wait for the outcome of their cards.', () => offers.waiting);
    const sweeper = new CardSweeper({
      store: stores.cards,
      onError: failures.about('deleting expired phones of cards'),
    });
    const providers = [
      { provide: RcsOfferService, useValue: offers },
      { provide: CardSweeper, useValue: sweeper },
    ];
    return { module: CardsModule, providers, exports: providers };
  }
}
