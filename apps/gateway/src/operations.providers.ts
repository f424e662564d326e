import type { FactoryProvider } from '@nestjs/common';
import { ConcatenationStore } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, OpsServer, type Logger } from '@countersign/telemetry';
import { Housekeeping } from './housekeeping.js';
import { InboundService } from './inbound/inbound.service.js';
import { ListenerService } from './listener/listener.service.js';
import { LOGGER } from './logger.token.js';
import { readinessChecks } from './readiness.js';

export const operationsProviders: FactoryProvider[] = [
  {
    provide: Housekeeping,
    inject: [Database, DatabaseClock, ServerKeys, GatewaySettings, LOGGER],
    useFactory: (
      database: Database,
      clock: DatabaseClock,
      keys: ServerKeys,
      { retentionDays }: GatewaySettings,
      logger: Logger,
    ) => new Housekeeping({ database, clock, concatenations: new ConcatenationStore(keys), retentionDays, logger }),
  },
  {
    provide: OpsServer,
    inject: [GatewaySettings, Metrics, Database, DatabaseClock, InboundService, ListenerService],
    useFactory: (
      { opsHost: host, opsPort: port }: GatewaySettings,
      metrics: Metrics,
      database: Database,
      clock: DatabaseClock,
      inbound: InboundService,
      listener: ListenerService,
    ) => new OpsServer({ host, port, metrics, checks: readinessChecks({ database, clock, inbound, listener }) }),
  },
];
