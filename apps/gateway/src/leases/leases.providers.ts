import os from 'node:os';
import type { FactoryProvider } from '@nestjs/common';
import { BindLeaseStore, GatewayStore } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import type { Logger } from '@countersign/telemetry';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { GatewayMetrics } from '../metrics/gateway.metrics.js';
import { LOGGER } from '../injection/logger.token.js';
import { LeaseRenewer } from './lease-renewer.js';
import { GATEWAY_VERSION } from './version.js';

export const leasesProviders: FactoryProvider[] = [
  { provide: BindLeaseStore, useFactory: () => new BindLeaseStore() },
  {
    provide: LeaseRenewer,
    inject: [Database, BindLeaseStore, GATEWAY_ID, GatewayMetrics, LOGGER],
    useFactory: (database: Database, leases: BindLeaseStore, id: Uuid, metrics: GatewayMetrics, logger: Logger) =>
      new LeaseRenewer({
        database,
        gateways: new GatewayStore(),
        leases,
        self: { id, host: os.hostname(), version: GATEWAY_VERSION },
        logger,
        onRenewal: (outcome) => metrics.leaseRenewals.inc({ outcome }),
        onLoss: (reason) => metrics.leasesLost.inc({ reason }),
      }),
  },
];
