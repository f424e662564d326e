import type { FactoryProvider } from '@nestjs/common';
import { CarrierDirectory } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from '../gateway.metrics.js';
import { InboundService } from '../inbound/inbound.service.js';
import { LOGGER } from '../logger.token.js';
import { BindsService } from './binds.service.js';

export const bindsProviders: FactoryProvider[] = [
  {
    provide: BindsService,
    inject: [CarrierDirectory, InboundService, ServerKeys, GatewayMetrics, LOGGER],
    useFactory: (
      carriers: CarrierDirectory,
      inbound: InboundService,
      keys: ServerKeys,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => new BindsService({ carriers, inbound, keys, metrics, logger }),
  },
];
