import { RbmCommandStore } from '@countersign/rcs/commands';
import { CardArrivalStore, CardEventStore } from '@countersign/rcs/events';
import { CardSendStore } from '@countersign/rcs/offers';
import { CardAnswers } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { provide, provideClass } from '@countersign/composition';
import { CardDecisions } from './dispatch/card-decisions.js';
import { CardSender } from './dispatch/card.sender.js';
import { CardsConsumer } from './dispatch/cards.consumer.js';
import { DecisionReactions } from './dispatch/decision.reactions.js';
import { DeliveryGrace } from './dispatch/delivery-grace.js';
import { OfferErrorLog } from './dispatch/offer-error.log.js';
import { OfferListener } from './dispatch/offer-listener.js';
import { OfferDispatcher } from './dispatch/offer.dispatcher.js';
import { RcsCommandProcessor } from './dispatch/rcs-command.processor.js';
import { RcsEventProcessor } from './dispatch/rcs-event.processor.js';
import { SendOutcomeRecorder } from './dispatch/send-outcome.recorder.js';
import { CardPlatform } from './rbm/card-platform.js';
import { RbmProblemLog } from './rbm/rbm-problem.log.js';
import { RcsMetrics } from './rcs.metrics.js';
import { RcsService } from './rcs.service.js';
import { CardEventIntake } from './webhook/card-event-intake.js';
import { PlatformEventReceiver } from './webhook/platform-event.receiver.js';
import { RbmWebhookHandler } from './webhook/rbm-webhook.handler.js';
import { WebhookServer } from './webhook/webhook.server.js';

/** RCS: offers to the platform, and events of the platform to decisions. */
export const rcsProviders = [
  provideClass(CardAnswers, ServerKeys),
  provideClass(CardSendStore, Database, GatewaySettings),
  provideClass(CardEventStore, Database, DatabaseClock, CardAnswers),
  provideClass(CardArrivalStore, DatabaseClock, CardAnswers),
  provideClass(RbmCommandStore, Database, DatabaseClock),
  provide(CardPlatform, [GatewaySettings, DatabaseClock, CardAnswers, RbmProblemLog], (...parts) =>
    CardPlatform.open(...parts),
  ),
  RbmProblemLog,
  RcsMetrics,
  DeliveryGrace,
  OfferErrorLog,
  SendOutcomeRecorder,
  CardSender,
  OfferDispatcher,
  OfferListener,
  CardsConsumer,
  CardDecisions,
  DecisionReactions,
  RcsEventProcessor,
  RcsCommandProcessor,
  CardEventIntake,
  PlatformEventReceiver,
  RbmWebhookHandler,
  WebhookServer,
  RcsService,
];
