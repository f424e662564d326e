import type { FactoryProvider } from '@nestjs/common';
import { JobNotifier, PubSub, TOPICS } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { ConcatenationStore, MessageStore } from '@countersign/carriers/inbound';
import { BindLeaseStore } from '@countersign/carriers/leases';
import { SenderFormatStore } from '@countersign/carriers/senders';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from '../metrics/gateway.metrics.js';
import { LOGGER } from '../injection/logger.token.js';
import { ReceiptsService } from '../receipts/receipts.service.js';
import { InboundBatch } from './inbound-batch.js';
import { InboundService } from './inbound.service.js';
import { SenderLearner } from './sender-learner.js';
import { SenderRate } from './sender-rate.js';

export const inboundProviders: FactoryProvider[] = [
  {
    provide: SenderLearner,
    inject: [Database, ServerKeys, PubSub, LOGGER],
    useFactory: (database: Database, keys: ServerKeys, bus: PubSub, logger: Logger) =>
      new SenderLearner({
        store: new SenderFormatStore(keys),
        database,
        // A learned format is read with the row.
        onLearned: ({ lease }) => bus.publish(lease === undefined ? TOPICS.systems : TOPICS.binds),
        logger,
      }),
  },
  {
    provide: InboundBatch,
    inject: [Database, ServerKeys, CarrierDirectory, SessionStore, BindLeaseStore, SenderLearner, JobNotifier],
    useFactory: (
      database: Database,
      keys: ServerKeys,
      carriers: CarrierDirectory,
      sessions: SessionStore,
      leases: BindLeaseStore,
      learner: SenderLearner,
      notifier: JobNotifier,
    ) => {
      const messages = new MessageStore();
      const concatenations = new ConcatenationStore(keys);
      const onEvents = (ids: readonly string[]): void => notifier.notify(ids);
      const stores = { carriers, sessions, messages, concatenations, leases };
      return new InboundBatch({ database, keys, ...stores, learner, onEvents });
    },
  },
  {
    provide: InboundService,
    inject: [DatabaseClock, InboundBatch, ReceiptsService, GatewayMetrics, GatewaySettings, LOGGER],
    useFactory: (
      clock: DatabaseClock,
      batch: InboundBatch,
      receipts: ReceiptsService,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch, moSenderPerSecond }: GatewaySettings,
      logger: Logger,
    ) => {
      const senderRate = new SenderRate(moSenderPerSecond);
      return new InboundService({ clock, batch, receipts, maxBatch, senderRate, metrics, logger });
    },
  },
];
