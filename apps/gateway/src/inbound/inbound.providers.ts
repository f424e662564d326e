import type { FactoryProvider } from '@nestjs/common';
import { Bell } from '@countersign/bus';
import { BindLeaseStore, CarrierDirectory, ConcatenationStore, MessageStore } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from '../gateway.metrics.js';
import { LOGGER } from '../logger.token.js';
import { ReceiptsService } from '../outbound/receipts.service.js';
import { InboundBatch } from './inbound-batch.js';
import { InboundService } from './inbound.service.js';

export const inboundProviders: FactoryProvider[] = [
  {
    provide: InboundBatch,
    inject: [Database, ServerKeys, CarrierDirectory, SessionStore, BindLeaseStore, Bell],
    useFactory: (
      database: Database,
      keys: ServerKeys,
      carriers: CarrierDirectory,
      sessions: SessionStore,
      leases: BindLeaseStore,
      bell: Bell,
    ) => {
      const messages = new MessageStore();
      const concatenations = new ConcatenationStore(keys);
      const onEvents = (ids: readonly string[]): void => bell.ring(ids);
      return new InboundBatch({ database, keys, carriers, sessions, messages, concatenations, leases, onEvents });
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
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => new InboundService({ clock, batch, receipts, maxBatch, metrics, logger }),
  },
];
