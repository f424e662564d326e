import type { FactoryProvider } from '@nestjs/common';
import { JobNotifier, PubSub } from '@countersign/bus';
import { RbmCommandStore } from '@countersign/rcs/commands';
import { CardArrivalStore, CardEventStore } from '@countersign/rcs/events';
import { CardSendStore } from '@countersign/rcs/offers';
import { CardAnswers } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { throttled } from '@countersign/resilience';
import { SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { CardDecisions, type Decided } from './dispatch/card-decisions.js';
import { publishCardOutcomes } from './dispatch/card-outcome-messages.js';
import { CardsConsumer } from './dispatch/cards.consumer.js';
import { OfferListener } from './dispatch/offer-listener.js';
import { OfferDispatcher } from './dispatch/offer.dispatcher.js';
import { RcsCommandProcessor } from './dispatch/rcs-command.processor.js';
import { RcsEventProcessor } from './dispatch/rcs-event.processor.js';
import { CardPlatform } from './rbm/card-platform.js';
import { RbmClient } from './rbm/rbm-client.js';
import { RcsMetrics } from './rcs.metrics.js';
import { RcsService } from './rcs.service.js';
import { CardEventIntake } from './webhook/card-event-intake.js';
import { eventRecordOf } from './webhook/event-record.js';
import { RbmWebhookHandler } from './webhook/rbm-webhook.handler.js';
import { WebhookServer } from './webhook/webhook.server.js';

const MAX_BATCHES_IN_FLIGHT = 2;

/** Publishes the results of arrivals, after the commit. */
type PublishArrivals = (decided: Pick<Decided, 'cardOutcomes' | 'arrivals'>) => void;
const PUBLISH_ARRIVALS = Symbol('publishArrivals');

const storeProviders: FactoryProvider[] = [
  {
    provide: CardSendStore,
    inject: [Database, GatewaySettings],
    useFactory: (database: Database, { batchMaxCommands: maxBatch }: GatewaySettings) =>
      new CardSendStore({ database, batch: { maxBatch, maxInFlight: MAX_BATCHES_IN_FLIGHT } }),
  },
  {
    provide: CardEventStore,
    inject: [Database, DatabaseClock, CardAnswers],
    useFactory: (database: Database, clock: DatabaseClock, answers: CardAnswers) =>
      new CardEventStore({ database, clock, answers }),
  },
  {
    provide: CardArrivalStore,
    inject: [DatabaseClock, CardAnswers],
    useFactory: (clock: DatabaseClock, answers: CardAnswers) => new CardArrivalStore(clock, answers),
  },
  {
    provide: RbmCommandStore,
    inject: [Database, DatabaseClock],
    useFactory: (database: Database, clock: DatabaseClock) => new RbmCommandStore(database, clock),
  },
];

/** RCS: offers to the platform, and events of the platform to decisions. */
export const rcsProviders: FactoryProvider[] = [
  { provide: RcsMetrics, inject: [Metrics], useFactory: (metrics: Metrics) => new RcsMetrics(metrics) },
  { provide: CardAnswers, inject: [ServerKeys], useFactory: (keys: ServerKeys) => new CardAnswers(keys) },
  ...storeProviders,
  {
    provide: CardPlatform,
    inject: [GatewaySettings, DatabaseClock, CardAnswers, LOGGER],
    useFactory: ({ rbm }: GatewaySettings, clock: DatabaseClock, answers: CardAnswers, logger: Logger) => {
      const client = RbmClient.open(rbm, {
        nowMs: () => clock.nowMs(),
        onProblem: (problem) =>
          logger.error(problem, 'RCS platform refuses cards; check the agent and the service account'),
      });
      if (client === null) logger.info('no RCS platform is configured: sessions fall back to SMS');
      return new CardPlatform(client, answers);
    },
  },
  {
    provide: OfferDispatcher,
    inject: [CardSendStore, CardPlatform, RcsCommandProcessor, PubSub, RcsMetrics, GatewaySettings, LOGGER],
    useFactory: (
      sends: CardSendStore,
      platform: CardPlatform,
      commands: RcsCommandProcessor,
      bus: PubSub,
      metrics: RcsMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const dispatcher = new OfferDispatcher({
        sends,
        maxBatch,
        send: (card) => platform.sendCard(card),
        onCardOutcomes: (outcomes) => publishCardOutcomes(bus, outcomes),
        onRevokeDue: () => commands.wake(),
        onOutcome: (outcome, seconds) => metrics.countSend(outcome, seconds),
        onShed: (count) => metrics.countShedOffers(count),
        onError: throttled((err) =>
          logger.warn({ err }, 'RCS offer dispatcher: offers could not be claimed or outcomes not recorded'),
        ),
      });
      metrics.registerSendsInFlight(() => dispatcher.sending);
      return dispatcher;
    },
  },
  {
    provide: RcsCommandProcessor,
    inject: [RbmCommandStore, CardPlatform, RcsMetrics, LOGGER],
    useFactory: (store: RbmCommandStore, platform: CardPlatform, metrics: RcsMetrics, logger: Logger) =>
      new RcsCommandProcessor({
        store,
        run: (command) => platform.runCommand(command),
        onResult: (kind, result) => metrics.countCommand(kind, result),
        onError: throttled((err) =>
          logger.warn({ err }, 'RCS command processor: commands could not be claimed or recorded; retrying'),
        ),
      }),
  },
  {
    provide: CardDecisions,
    inject: [Database, CardEventStore, CardArrivalStore, SessionStore],
    useFactory: (database: Database, events: CardEventStore, arrivals: CardArrivalStore, sessions: SessionStore) =>
      new CardDecisions({ database, events, arrivals, sessions }),
  },
  {
    provide: PUBLISH_ARRIVALS,
    inject: [OfferDispatcher, PubSub, RcsMetrics],
    useFactory:
      (dispatcher: OfferDispatcher, bus: PubSub, metrics: RcsMetrics): PublishArrivals =>
      ({ cardOutcomes, arrivals }) => {
        publishCardOutcomes(bus, cardOutcomes);
        dispatcher.markDelivered(arrivals.map(({ cardId }) => cardId));
        for (const { agentId, afterMs } of arrivals) metrics.countArrival(agentId, afterMs);
      },
  },
  {
    provide: RcsEventProcessor,
    inject: [CardDecisions, PUBLISH_ARRIVALS, RcsCommandProcessor, JobNotifier, RcsMetrics, GatewaySettings, LOGGER],
    useFactory: (
      decisions: CardDecisions,
      publishArrivals: PublishArrivals,
      commands: RcsCommandProcessor,
      notifier: JobNotifier,
      metrics: RcsMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const onDecided = (decided: Decided): void => {
        const { eventIds, taps } = decided;
        publishArrivals(decided);
        if (eventIds.length > 0) notifier.notify(eventIds);
        for (const { verdict, ended } of taps) metrics.countTap(verdict, ended);
        if (taps.length > 0) commands.wake();
      };
      const onError = throttled((err) => logger.error({ err }, 'RCS event could not be processed'));
      return new RcsEventProcessor({ decisions, maxBatch, onDecided, onError });
    },
  },
  {
    provide: CardEventIntake,
    inject: [CardEventStore, CardDecisions, PUBLISH_ARRIVALS, GatewaySettings, LOGGER],
    useFactory: (
      events: CardEventStore,
      decisions: CardDecisions,
      publishArrivals: PublishArrivals,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) =>
      new CardEventIntake({
        events,
        decisions,
        maxBatch,
        onDecided: publishArrivals,
        onError: throttled((err) =>
          logger.error(
            { err },
            'RCS event intake: arrivals could not be applied while they were stored; they are processed later',
          ),
        ),
      }),
  },
  {
    provide: WebhookServer,
    inject: [GatewaySettings, CardEventIntake, CardAnswers, DatabaseClock, RcsEventProcessor, RcsMetrics, LOGGER],
    useFactory: (
      { httpHost: host, httpPort: port, rbmClientToken: clientToken }: GatewaySettings,
      intake: CardEventIntake,
      answers: CardAnswers,
      clock: DatabaseClock,
      processor: RcsEventProcessor,
      metrics: RcsMetrics,
      logger: Logger,
    ) => {
      const handler = new RbmWebhookHandler({
        clientToken,
        eventRecordOf: (event) => eventRecordOf(event, { answers, clock }),
        store: (event) => intake.storeEvent(event),
        onStored: (ids) => processor.enqueue(ids),
        onResult: (result, kind) => metrics.countWebhook(result, kind),
        onError: throttled((err) => logger.error({ err }, 'RCS webhook: event could not be stored')),
      });
      return new WebhookServer({ host, port, handler });
    },
  },
  {
    provide: CardsConsumer,
    inject: [OfferDispatcher, RcsCommandProcessor, LOGGER],
    useFactory: (dispatcher: OfferDispatcher, commands: RcsCommandProcessor, logger: Logger) =>
      new CardsConsumer(dispatcher, commands, (err) => logger.debug({ err }, 'queue connection')),
  },
  {
    provide: OfferListener,
    inject: [PubSub, OfferDispatcher],
    useFactory: (bus: PubSub, dispatcher: OfferDispatcher) => new OfferListener(bus, dispatcher),
  },
  {
    provide: RcsService,
    inject: [
      CardSendStore,
      CardPlatform,
      WebhookServer,
      CardsConsumer,
      OfferListener,
      OfferDispatcher,
      RcsCommandProcessor,
      RcsEventProcessor,
    ],
    useFactory: (
      sends: CardSendStore,
      platform: CardPlatform,
      webhook: WebhookServer,
      consumer: CardsConsumer,
      listener: OfferListener,
      dispatcher: OfferDispatcher,
      commands: RcsCommandProcessor,
      events: RcsEventProcessor,
    ) => new RcsService({ sends, platform, webhook, consumer, listener, dispatcher, commands, events }),
  },
];
