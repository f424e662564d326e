import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { GatewaySettings } from '@countersign/settings';
import { Metrics, type Logger } from '@countersign/telemetry';
import { bindsProviders } from './binds/binds.providers.js';
import { GatewayMetrics } from './metrics/gateway.metrics.js';
import { inboundProviders } from './inbound/inbound.providers.js';
import { leasesProviders } from './leases/leases.providers.js';
import { listenerProviders } from './listener/listener.providers.js';
import { LOGGER } from './injection/logger.token.js';
import { outboundProviders } from './outbound/outbound.providers.js';
import { operationsProviders } from './operations.providers.js';
import { rcsProviders } from './rcs/rcs.providers.js';
import { recorderProviders } from './recorder/recorder.providers.js';
import { storeProviders } from './stores.providers.js';

/** All providers of the gateway. None opens a port or a link: `startGateway` does, in a stated order. */
@Module({})
export class GatewayModule {
  static register(settings: Readonly<GatewaySettings>, logger: Logger): DynamicModule {
    const connection = queueConnection(settings, 'producer');
    return {
      module: GatewayModule,
      imports: [
        BullModule.registerQueue({ name: QUEUES.webhooks, prefix: QUEUE_PREFIX, connection }),
        BullModule.forRoot('worker', { connection: queueConnection(settings, 'worker'), prefix: QUEUE_PREFIX }),
      ],
      providers: [
        { provide: GatewaySettings, useValue: settings },
        { provide: LOGGER, useValue: logger },
        { provide: Metrics, useFactory: () => new Metrics({ app: 'gateway' }) },
        { provide: GatewayMetrics, inject: [Metrics], useFactory: (metrics: Metrics) => new GatewayMetrics(metrics) },
        ...storeProviders,
        ...inboundProviders,
        ...listenerProviders,
        ...leasesProviders,
        ...bindsProviders,
        ...recorderProviders,
        ...outboundProviders,
        ...rcsProviders,
        ...operationsProviders,
      ],
    };
  }
}
