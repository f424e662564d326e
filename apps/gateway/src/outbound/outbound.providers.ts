import type { FactoryProvider } from '@nestjs/common';
import { Bell, PubSub } from '@countersign/bus';
import { DeliveryLedger, RouteDirectory } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock, type Uuid } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { BindsService } from '../binds/binds.service.js';
import { GATEWAY_ID } from '../gateway-id.token.js';
import { GatewayMetrics } from '../gateway.metrics.js';
import { LOGGER } from '../logger.token.js';
import { AttemptMaker } from './attempt-maker.js';
import { BindLanes } from './bind-lanes.js';
import { OutboundConsumer } from './outbound.consumer.js';
import { OutboundPump } from './outbound-pump.js';
import { OtherGateways } from './other-gateways.js';
import { ReceiptsService } from './receipts.service.js';

export const outboundProviders: FactoryProvider[] = [
  {
    provide: ReceiptsService,
    inject: [Database, DeliveryLedger, Bell, Metrics, GatewayMetrics, GatewaySettings, LOGGER],
    useFactory: (
      database: Database,
      ledger: DeliveryLedger,
      bell: Bell,
      registry: Metrics,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      registry.gauge({
        name: 'receipts_parked',
        help: 'Delivery receipts that wait for their response, or are nobody’s, over all gateways.',
        read: () => ledger.parked(database),
      });
      const onEvents = (ids: readonly string[]): void => bell.ring(ids);
      return new ReceiptsService({ database, ledger, maxBatch, onEvents, metrics, logger });
    },
  },
  {
    provide: BindLanes,
    inject: [BindsService, GatewayMetrics],
    useFactory: (binds: BindsService, metrics: GatewayMetrics) => {
      const lanes = new BindLanes(binds);
      metrics.links.watchPaces(() => lanes.pacesOf(binds.senders()));
      return lanes;
    },
  },
  {
    provide: OtherGateways,
    inject: [Database, PubSub, GATEWAY_ID],
    useFactory: (database: Database, bus: PubSub, self: Uuid) => new OtherGateways({ database, bus, self }),
  },
  {
    provide: AttemptMaker,
    inject: [ServerKeys, DatabaseClock, BindsService, BindLanes, LOGGER],
    useFactory: (keys: ServerKeys, clock: DatabaseClock, senders: BindsService, lanes: BindLanes, logger: Logger) => {
      const onError = (err: unknown): void => logger.error({ err }, 'a code cannot be read, and is given up');
      return new AttemptMaker({ keys, clock, senders, lanes, onError });
    },
  },
  {
    provide: OutboundPump,
    inject: [
      Database,
      DatabaseClock,
      GATEWAY_ID,
      DeliveryLedger,
      RouteDirectory,
      BindsService,
      BindLanes,
      OtherGateways,
      AttemptMaker,
      Bell,
      GatewayMetrics,
      GatewaySettings,
      LOGGER,
    ],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      self: Uuid,
      ledger: DeliveryLedger,
      routes: RouteDirectory,
      binds: BindsService,
      lanes: BindLanes,
      others: OtherGateways,
      attempts: AttemptMaker,
      bell: Bell,
      metrics: GatewayMetrics,
      { batchMaxCommands: maxBatch }: GatewaySettings,
      logger: Logger,
    ) => {
      const pump = new OutboundPump({
        database,
        clock,
        self,
        ledger,
        routes,
        lanes,
        others,
        attempts,
        maxBatch,
        onEvents: (ids) => bell.ring(ids),
        onOutcome: (outcome, count) => metrics.outbound.inc({ outcome }, count),
        onError: (err) => logger.warn({ err }, 'codes could not be moved, and are tried again'),
      });
      binds.onBound(() => pump.wake());
      others.onLeft(() => pump.wakeSoon());
      binds.beforeRelease((lease) => pump.settled(lease));
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
