import type { FactoryProvider } from '@nestjs/common';
import { ConcatenationStore, DeliveryLedger, OutboundQueue } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, OpsServer, type Logger } from '@countersign/telemetry';
import { GatewayMetrics } from './gateway.metrics.js';
import { Housekeeping } from './housekeeping.js';
import { InboundService } from './inbound/inbound.service.js';
import { ListenerService } from './listener/listener.service.js';
import { LeaseKeeper } from './leases/lease-keeper.js';
import { LOGGER } from './logger.token.js';
import { readinessChecks } from './readiness.js';
import { watchStores } from './store-gauges.js';

export const operationsProviders: FactoryProvider[] = [
  {
    provide: Housekeeping,
    inject: [Database, DatabaseClock, ServerKeys, DeliveryLedger, GatewaySettings, GatewayMetrics, LOGGER],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      keys: ServerKeys,
      ledger: DeliveryLedger,
      { retentionDays }: GatewaySettings,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => {
      const concatenations = new ConcatenationStore(keys);
      const onOrphans = (count: number): void => metrics.orphanReceipts.inc(count);
      return new Housekeeping({ database, clock, concatenations, ledger, retentionDays, onOrphans, logger });
    },
  },
  {
    provide: OpsServer,
    inject: [
      GatewaySettings,
      Metrics,
      Database,
      DatabaseClock,
      InboundService,
      ListenerService,
      LeaseKeeper,
      ServerKeys,
    ],
    useFactory: (
      { opsHost: host, opsPort: port }: GatewaySettings,
      metrics: Metrics,
      database: Database,
      clock: DatabaseClock,
      inbound: InboundService,
      listener: ListenerService,
      leases: LeaseKeeper,
      keys: ServerKeys,
    ) => {
      const [queue, concatenations] = [new OutboundQueue(), new ConcatenationStore(keys)];
      watchStores(metrics, { database, queue, concatenations, leasesHeld: () => leases.held.size });
      return new OpsServer({ host, port, metrics, checks: readinessChecks({ database, clock, inbound, listener }) });
    },
  },
];
