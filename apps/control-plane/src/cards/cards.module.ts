import { CardAnswers, OFFERS_TOPIC } from '@countersign/rcs/rules';
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
    const desk = new RcsOfferService({
      store: stores.cards,
      answers: new CardAnswers(stores.keys),
      database: stores.database,
      bus: stores.bus,
      originProcess: stores.clock.newId(),
      deliveryWaitMs: settings.rcsDeliveryWaitMs,
      nowMs: () => stores.clock.nowMs(),
      call: (ids) => stores.bus.publish(OFFERS_TOPIC, [...ids]),
      notify: (ids) => stores.cardNotifier.notify(ids),
      // Limits and bells share a store.
      isUnclaimed: () => stores.limiter.away,
      onEnd: (end, tookMs) => metrics.countCard(end, tookMs),
      onError: failures.about('sending a card'),
    });
    metrics.watch('creates_waiting', 'Creates that wait for their cards.', () => desk.waiting);
    const sweeper = new CardSweeper({ store: stores.cards, onError: failures.about('forgetting phones of cards') });
    const providers = [
      { provide: RcsOfferService, useValue: desk },
      { provide: CardSweeper, useValue: sweeper },
    ];
    return { module: CardsModule, providers, exports: providers };
  }
}
