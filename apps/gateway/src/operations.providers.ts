import type { FactoryProvider } from '@nestjs/common';
import { ConcatenationStore } from '@countersign/carriers/inbound';
import { MtMessageStore, OutboundQueue } from '@countersign/carriers/outbound';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, OpsServer, type Logger } from '@countersign/telemetry';
import { GatewayMetrics } from './metrics/gateway.metrics.js';
import { Maintenance } from './maintenance.js';
import { InboundService } from './inbound/inbound.service.js';
import { ListenerService } from './listener/listener.service.js';
import { LeaseRenewer } from './leases/lease-renewer.js';
import { LOGGER } from './injection/logger.token.js';
import { readinessChecks } from './readiness.js';
import { registerStoreGauges } from './store-gauges.js';

export const operationsProviders: FactoryProvider[] = [
  {
    provide: Maintenance,
    inject: [Database, DatabaseClock, ServerKeys, MtMessageStore, GatewaySettings, GatewayMetrics, LOGGER],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      keys: ServerKeys,
      mtMessages: MtMessageStore,
      { retentionDays }: GatewaySettings,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => {
      const concatenations = new ConcatenationStore(keys);
      const onOrphans = (count: number): void => metrics.orphanReceipts.inc(count);
      return new Maintenance({ database, clock, concatenations, mtMessages, retentionDays, onOrphans, logger });
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
      LeaseRenewer,
      ServerKeys,
    ],
    useFactory: (
      { opsHost: host, opsPort: port }: GatewaySettings,
      metrics: Metrics,
      database: Database,
      clock: DatabaseClock,
      inbound: InboundService,
      listener: ListenerService,
      leases: LeaseRenewer,
      keys: ServerKeys,
    ) => {
      const [queue, concatenations] = [new OutboundQueue(), new ConcatenationStore(keys)];
      registerStoreGauges(metrics, { database, queue, concatenations, leasesHeld: () => leases.heldKeys.size });
      return new OpsServer({ host, port, metrics, checks: readinessChecks({ database, clock, inbound, listener }) });
    },
  },
];
