import type { FactoryProvider } from '@nestjs/common';
import { PubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import type { Logger } from '@countersign/telemetry';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { GatewayMetrics } from '../metrics/gateway.metrics.js';
import { InboundService } from '../inbound/inbound.service.js';
import { LeaseRenewer } from '../leases/lease-renewer.js';
import { LOGGER } from '../injection/logger.token.js';
import { FlightRecorder } from '../recorder/flight-recorder.js';
import { BindsService } from './binds.service.js';

export const bindsProviders: FactoryProvider[] = [
  {
    provide: BindsService,
    inject: [
      CarrierDirectory,
      LeaseRenewer,
      InboundService,
      ServerKeys,
      DatabaseClock,
      PubSub,
      FlightRecorder,
      GATEWAY_ID,
      GatewayMetrics,
      LOGGER,
    ],
    useFactory: (
      carriers: CarrierDirectory,
      leases: LeaseRenewer,
      inbound: InboundService,
      keys: ServerKeys,
      clock: DatabaseClock,
      bus: PubSub,
      recorder: FlightRecorder,
      self: Uuid,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => new BindsService({ carriers, leases, inbound, keys, clock, bus, recorder, self, metrics, logger }),
  },
];
