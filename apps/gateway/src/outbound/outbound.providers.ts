import type { FactoryProvider } from '@nestjs/common';
import { Bell } from '@countersign/bus';
import { DeliveryLedger, RouteDirectory } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { BindsService } from '../binds/binds.service.js';
import { GatewayMetrics } from '../gateway.metrics.js';
import { LOGGER } from '../logger.token.js';
import { AttemptMaker } from './attempt-maker.js';
import { BindLanes } from './bind-lanes.js';
import { OutboundConsumer } from './outbound.consumer.js';
import { OutboundPump } from './outbound-pump.js';
import { ReceiptsService } from './receipts.service.js';

export const outboundProviders: FactoryProvider[] = [
  {
    provide: ReceiptsService,
    inject: [Database, DeliveryLedger, Bell, GatewayMetrics, GatewaySettings, LOGGER],
    useFactory: (
      database: Database,
      ledger: DeliveryLedger,
      bell: Bell,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const onEvents = (ids: readonly string[]): void => bell.ring(ids);
      return new ReceiptsService({ database, ledger, maxBatch, onEvents, metrics, logger });
    },
  },
  {
    provide: AttemptMaker,
    inject: [ServerKeys, DatabaseClock, BindsService, LOGGER],
    useFactory: (keys: ServerKeys, clock: DatabaseClock, binds: BindsService, logger: Logger) => {
      const onError = (err: unknown): void => logger.error({ err }, 'a code cannot be read, and is given up');
      return new AttemptMaker({ keys, clock, senderOf: (bindId) => binds.sender(bindId), onError });
    },
  },
  {
    provide: OutboundPump,
    inject: [
      Database,
      DatabaseClock,
      DeliveryLedger,
      RouteDirectory,
      BindsService,
      AttemptMaker,
      Bell,
      GatewayMetrics,
      GatewaySettings,
      LOGGER,
    ],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      ledger: DeliveryLedger,
      routes: RouteDirectory,
      binds: BindsService,
      attempts: AttemptMaker,
      bell: Bell,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const pump = new OutboundPump({
        database,
        clock,
        ledger,
        routes,
        lanes: new BindLanes((bindId) => binds.sender(bindId)),
        attempts,
        maxBatch,
        onEvents: (ids) => bell.ring(ids),
        onOutcome: (outcome, count) => metrics.outbound.inc({ outcome }, count),
        onError: (err) => logger.warn({ err }, 'codes could not be moved, and are tried again'),
      });
      binds.onBound(() => pump.wake());
      return pump;
    },
  },
  {
    provide: OutboundConsumer,
    inject: [OutboundPump, LOGGER],
    useFactory: (pump: OutboundPump, logger: Logger) =>
      new OutboundConsumer(pump, (err) => logger.debug({ err }, 'queue connection')),
  },
];
