import type { FactoryProvider } from '@nestjs/common';
import { JobNotifier, PubSub } from '@countersign/bus';
import { CardStore } from '@countersign/rcs';
import type { AddressedCardOutcome } from '@countersign/rcs/offers';
import { CardAnswers } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OfferListener } from './offer-listener.js';
import { CardDecisions, type Decided } from './card-decisions.js';
import { RcsCommandProcessor } from './rcs-command.processor.js';
import { CardEventIntake } from './card-event-intake.js';
import { RcsEventProcessor } from './rcs-event.processor.js';
import { publishCardOutcomes } from './card-outcome-messages.js';
import { CardOffers } from './card-offers.js';
import { CardPlatform } from './card-platform.js';
import { CardsConsumer } from './cards.consumer.js';
import { recordOf } from './event-record.js';
import { RbmClient } from './rbm-client.js';
import { RcsMetrics } from './rcs.metrics.js';
import { RcsService } from './rcs.service.js';
import { throttled } from './throttled.js';
import { RbmWebhookHandler } from './rbm-webhook.handler.js';
import { WebhookServer } from './webhook.server.js';

const MAX_BATCHES_IN_FLIGHT = 2;

/** Tells whoever it concerns what was decided of cards, after the commit. */
type Arrived = (decided: Pick<Decided, 'news' | 'arrivals'>) => void;
const ARRIVED = Symbol('arrived');

/** Cards, from offers to the platform and from its webhooks to decisions. */
export const rcsProviders: FactoryProvider[] = [
  { provide: RcsMetrics, inject: [Metrics], useFactory: (metrics: Metrics) => new RcsMetrics(metrics) },
  { provide: CardAnswers, inject: [ServerKeys], useFactory: (keys: ServerKeys) => new CardAnswers(keys) },
  {
    provide: CardStore,
    inject: [Database, DatabaseClock, ServerKeys, GatewaySettings],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      keys: ServerKeys,
      { batchMaxCommands: maxBatch }: GatewaySettings,
    ) => new CardStore({ database, clock, keys, batch: { maxBatch, maxInFlight: MAX_BATCHES_IN_FLIGHT } }),
  },
  {
    provide: CardPlatform,
    inject: [GatewaySettings, DatabaseClock, CardAnswers, LOGGER],
    useFactory: ({ rbm }: GatewaySettings, clock: DatabaseClock, answers: CardAnswers, logger: Logger) => {
      const client = RbmClient.open(rbm, {
        nowMs: () => clock.nowMs(),
        onProblem: (problem) => logger.error(problem, 'the RCS platform refuses what only an engineer can mend'),
      });
      if (client === null) logger.info('no RCS platform is set up: sessions fall back to SMS');
      return new CardPlatform(client, answers);
    },
  },
  {
    provide: CardOffers,
    inject: [CardStore, CardPlatform, RcsCommandProcessor, PubSub, RcsMetrics, GatewaySettings, LOGGER],
    useFactory: (
      cards: CardStore,
      platform: CardPlatform,
      commands: RcsCommandProcessor,
      bus: PubSub,
      metrics: RcsMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const offers = new CardOffers({
        cards,
        maxBatch,
        send: (card) => platform.send(card),
        onCardOutcomes: (news: readonly AddressedCardOutcome[]) => publishCardOutcomes(bus, news),
        onGivenUp: () => commands.wake(),
        onOutcome: (outcome, seconds) => metrics.sent(outcome, seconds),
        onShed: (count) => metrics.leftOut(count),
        onError: throttled((err) =>
          logger.warn({ err }, 'cards could not be claimed, or what became of them not recorded'),
        ),
      });
      metrics.watchSends(() => offers.sending);
      return offers;
    },
  },
  {
    provide: RcsCommandProcessor,
    inject: [CardStore, CardPlatform, RcsMetrics, LOGGER],
    useFactory: (cards: CardStore, platform: CardPlatform, metrics: RcsMetrics, logger: Logger) =>
      new RcsCommandProcessor({
        cards,
        run: (errand) => platform.run(errand),
        onResult: (kind, told) => metrics.told(kind, told),
        onError: throttled((err) =>
          logger.warn({ err }, 'the RCS platform could not be told something, and is told once more'),
        ),
      }),
  },
  {
    provide: CardDecisions,
    inject: [Database, CardStore, SessionStore],
    useFactory: (database: Database, cards: CardStore, sessions: SessionStore) =>
      new CardDecisions({ database, cards, sessions }),
  },
  {
    provide: ARRIVED,
    inject: [CardOffers, PubSub, RcsMetrics],
    useFactory:
      (offers: CardOffers, bus: PubSub, metrics: RcsMetrics): Arrived =>
      ({ news, arrivals }) => {
        publishCardOutcomes(bus, news);
        offers.arrived(arrivals.map(({ cardId }) => cardId));
        for (const { agentId, afterMs } of arrivals) metrics.arrived(agentId, afterMs);
      },
  },
  {
    provide: RcsEventProcessor,
    inject: [CardDecisions, ARRIVED, RcsCommandProcessor, JobNotifier, RcsMetrics, GatewaySettings, LOGGER],
    useFactory: (
      decisions: CardDecisions,
      arrived: Arrived,
      commands: RcsCommandProcessor,
      notifier: JobNotifier,
      metrics: RcsMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const onDecided = (decided: Decided): void => {
        const { eventIds, taps } = decided;
        arrived(decided);
        if (eventIds.length > 0) notifier.notify(eventIds);
        for (const { verdict, ended } of taps) metrics.tapped(verdict, ended);
        if (taps.length > 0) commands.wake();
      };
      const onError = throttled((err) => logger.error({ err }, 'what the RCS platform told could not be acted on'));
      return new RcsEventProcessor({ decisions, maxBatch, onDecided, onError });
    },
  },
  {
    provide: CardEventIntake,
    inject: [CardStore, CardDecisions, ARRIVED, GatewaySettings, LOGGER],
    useFactory: (
      cards: CardStore,
      decisions: CardDecisions,
      arrived: Arrived,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) =>
      new CardEventIntake({
        cards,
        decisions,
        maxBatch,
        onDecided: arrived,
        onError: throttled((err) => logger.error({ err }, 'what the RCS platform told is acted on later')),
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
        recordOf: (event) => recordOf(event, { answers, clock }),
        store: (event) => intake.take(event),
        onStored: (ids) => processor.wake(ids),
        onFate: (fate, kind) => metrics.received(fate, kind),
        onError: throttled((err) => logger.error({ err }, 'what the RCS platform told could not be stored')),
      });
      return new WebhookServer({ host, port, handler });
    },
  },
  {
    provide: CardsConsumer,
    inject: [CardOffers, RcsCommandProcessor, LOGGER],
    useFactory: (offers: CardOffers, commands: RcsCommandProcessor, logger: Logger) =>
      new CardsConsumer(offers, commands, (err) => logger.debug({ err }, 'queue connection')),
  },
  {
    provide: OfferListener,
    inject: [PubSub, CardOffers],
    useFactory: (bus: PubSub, offers: CardOffers) => new OfferListener(bus, offers),
  },
  {
    provide: RcsService,
    inject: [
      CardStore,
      CardPlatform,
      WebhookServer,
      CardsConsumer,
      OfferListener,
      CardOffers,
      RcsCommandProcessor,
      RcsEventProcessor,
    ],
    useFactory: (
      cards: CardStore,
      platform: CardPlatform,
      webhook: WebhookServer,
      consumer: CardsConsumer,
      calls: OfferListener,
      offers: CardOffers,
      commands: RcsCommandProcessor,
      events: RcsEventProcessor,
    ) => new RcsService({ cards, platform, webhook, consumer, calls, offers, commands, events }),
  },
];
