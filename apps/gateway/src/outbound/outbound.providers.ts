import type { FactoryProvider } from '@nestjs/common';
import { JobNotifier, PubSub } from '@countersign/bus';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { RouteDirectory } from '@countersign/carriers/routes';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { BindsService } from '../binds/binds.service.js';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { GatewayMetrics } from '../metrics/gateway.metrics.js';
import { LOGGER } from '../injection/logger.token.js';
import { AttemptMaker } from './attempt-maker.js';
import { SubmitQueues } from './submit-queues.js';
import { OutboundConsumer } from './outbound.consumer.js';
import { MtDispatcher } from './mt.dispatcher.js';
import { OtherGateways } from './other-gateways.js';
import { ReceiptsService } from '../receipts/receipts.service.js';

export const outboundProviders: FactoryProvider[] = [
  {
    provide: ReceiptsService,
    inject: [Database, MtMessageStore, JobNotifier, Metrics, GatewayMetrics, GatewaySettings, LOGGER],
    useFactory: (
      database: Database,
      mtMessages: MtMessageStore,
      notifier: JobNotifier,
      registry: Metrics,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      registry.gauge({
        name: 'receipts_parked',
        help: 'Delivery receipts without a recorded response, over all gateways.',
        read: () => mtMessages.countParkedReceipts(database),
      });
      const onEvents = (ids: readonly string[]): void => notifier.notify(ids);
      return new ReceiptsService({ database, mtMessages: mtMessages, maxBatch, onEvents, metrics, logger });
    },
  },
  {
    provide: SubmitQueues,
    inject: [BindsService, GatewayMetrics],
    useFactory: (binds: BindsService, metrics: GatewayMetrics) => {
      const queues = new SubmitQueues(binds);
      metrics.links.setPaceSource(() => queues.pacesOf(binds.senders()));
      return queues;
    },
  },
  {
    provide: OtherGateways,
    inject: [Database, PubSub, GATEWAY_ID],
    useFactory: (database: Database, bus: PubSub, self: Uuid) => new OtherGateways({ database, bus, self }),
  },
  {
    provide: AttemptMaker,
    inject: [ServerKeys, DatabaseClock, BindsService, SubmitQueues, LOGGER],
    useFactory: (
      keys: ServerKeys,
      clock: DatabaseClock,
      senders: BindsService,
      queues: SubmitQueues,
      logger: Logger,
    ) => {
      const onError = (err: unknown): void =>
        logger.error({ err }, 'MT dispatcher: text of a code cannot be opened; the code fails');
      return new AttemptMaker({ keys, clock, senders, queues, onError });
    },
  },
  {
    provide: MtDispatcher,
    inject: [
      Database,
      DatabaseClock,
      GATEWAY_ID,
      MtMessageStore,
      RouteDirectory,
      BindsService,
      SubmitQueues,
      OtherGateways,
      AttemptMaker,
      JobNotifier,
      GatewayMetrics,
      GatewaySettings,
      LOGGER,
    ],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      self: Uuid,
      mtMessages: MtMessageStore,
      routes: RouteDirectory,
      binds: BindsService,
      queues: SubmitQueues,
      others: OtherGateways,
      attempts: AttemptMaker,
      notifier: JobNotifier,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const dispatcher = new MtDispatcher({
        database,
        clock,
        self,
        mtMessages: mtMessages,
        routes,
        queues,
        others,
        attempts,
        maxBatch,
        onEvents: (ids) => notifier.notify(ids),
        onOutcome: (outcome, count) => metrics.otpAttempts.inc({ outcome }, count),
        onError: (err) => logger.warn({ err }, 'MT dispatcher: codes could not be claimed or recorded; retrying'),
      });
      binds.onBound(() => dispatcher.trigger());
      others.onDeferred(() => dispatcher.triggerAfterHandOver());
      binds.beforeRelease((lease) => dispatcher.waitForRecords(lease));
      return dispatcher;
    },
  },
  {
    provide: OutboundConsumer,
    inject: [MtDispatcher, LOGGER],
    useFactory: (dispatcher: MtDispatcher, logger: Logger) =>
      new OutboundConsumer(dispatcher, (err) => logger.debug({ err }, 'queue connection error')),
  },
];
